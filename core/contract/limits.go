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
	Key     Limits `json:"key" doc:"Limits for each key, unless the key or its type sets its own"`
	Owner   Limits `json:"owner" doc:"Limits for each owner, across all keys"`
	IP      Limits `json:"ip" doc:"Limits for each client IP address"`
	Project Limits `json:"project" doc:"Limits for all calls to the project combined"`
}

// ProjectLimitsChange replaces limits of a project; nil leaves a member unchanged.
type ProjectLimitsChange struct {
	Key     *Limits `json:"key,omitempty" flag:"key-limits" doc:"Limits for each key. A key or its type can override them. Use {} for no limits"`
	Owner   *Limits `json:"owner,omitempty" flag:"owner-limits" doc:"Limits for each owner, across all keys. Use {} for no limits"`
	IP      *Limits `json:"ip,omitempty" flag:"ip-limits" doc:"Limits for each client IP address. Use {} for no limits"`
	Project *Limits `json:"project,omitempty" flag:"project-limits" doc:"Limits for all calls to the project combined. Use {} for no limits"`
}
