package contract

import "encoding/json"

// Limits are the calls that each window of the clock (UTC) admits, by the window's name, such as {"minute": 100}. A
// window that is absent has no limit.
type Limits map[string]int64

// MarshalJSON returns an empty object for no limits.
func (l Limits) MarshalJSON() ([]byte, error) {
	if l == nil {
		return []byte("{}"), nil
	}
	return json.Marshal(map[string]int64(l))
}

// ProjectLimits are the limits of a project, by what is counted.
type ProjectLimits struct {
	Key     Limits `json:"key" doc:"Keys that don't set limits, and whose type doesn't either"`
	Owner   Limits `json:"owner" doc:"Each owner, all keys together"`
	IP      Limits `json:"ip" doc:"Each client address"`
	Project Limits `json:"project" doc:"All calls of the project"`
}

// ProjectLimitsChange replaces limits of a project; nil leaves a member as it is.
type ProjectLimitsChange struct {
	Key     *Limits `json:"key,omitempty" flag:"key-limits" doc:"Limits of each key that doesn't set its own, and whose type doesn't either; {}: no limits"`
	Owner   *Limits `json:"owner,omitempty" flag:"owner-limits" doc:"Limits of each owner, all keys together; {}: no limits"`
	IP      *Limits `json:"ip,omitempty" flag:"ip-limits" doc:"Limits of each client address; {}: no limits"`
	Project *Limits `json:"project,omitempty" flag:"project-limits" doc:"Limits of all calls of the project; {}: no limits"`
}
