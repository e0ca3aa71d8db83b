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
