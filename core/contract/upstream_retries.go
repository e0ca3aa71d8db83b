package contract

import (
	"encoding/json"
	"slices"
	"strconv"
)

// UpstreamRetries say when a call is sent to an environment's upstream again. A nil member means the default, and in a
// change it leaves the member unchanged. Answers have all members.
type UpstreamRetries struct {
	Max *int              `json:"max,omitempty" flag:"retries" doc:"Maximum number of retries, from 0 to 10. A call is retried if no part of it was sent. GET, HEAD, OPTIONS, PUT and DELETE calls with a body of up to 64 KB are also retried if the connection ends before the upstream responds. Defaults to 1"`
	On  *[]RetryCondition `json:"on,omitempty" flag:"retry-on,list" doc:"Additional conditions for retrying GET, HEAD, OPTIONS, PUT and DELETE calls: the status codes 502, 503 and 504, or timeout (no response within response_ms). Defaults to none" help:"Additional conditions for retrying GET, HEAD, OPTIONS, PUT and DELETE calls: the status codes 502, 503 and 504, or timeout (no response within --response-timeout). Defaults to none"`
}

// RetryCondition is something that a call is sent again for: a status such as 502, which is a number in JSON, or
// RetryOnTimeout.
type RetryCondition string

// RetryOnTimeout sends calls again that got no response in time.
const RetryOnTimeout RetryCondition = "timeout"

// RetryConditions lists all conditions in their order.
var RetryConditions = []RetryCondition{"502", "503", "504", RetryOnTimeout}

// MostUnclaimedRetries is the limit on UpstreamRetries.Max of an unclaimed workspace.
const MostUnclaimedRetries = 1

func (r *UpstreamRetries) numbers() []UpstreamNumber {
	return []UpstreamNumber{{"max", r.Max, 1, 0, 10, &r.Max}}
}

// Numbers returns the members that are numbers.
func (r UpstreamRetries) Numbers() []UpstreamNumber { return r.numbers() }

// Status returns the status that causes a retry, or 0 if the condition isn't a status.
func (c RetryCondition) Status() int {
	n, err := strconv.Atoi(string(c))
	if err != nil || strconv.Itoa(n) != string(c) {
		return 0
	}
	return n
}

// MarshalJSON implements json.Marshaler.
func (c RetryCondition) MarshalJSON() ([]byte, error) {
	if n := c.Status(); n != 0 {
		return json.Marshal(n)
	}
	return json.Marshal(string(c))
}

// UnmarshalJSON implements json.Unmarshaler. A status may be a number or a text.
func (c *RetryCondition) UnmarshalJSON(raw []byte) error {
	var status json.Number // which a text can't be that isn't a number
	if err := json.Unmarshal(raw, &status); err == nil {
		*c = RetryCondition(status)
		return nil
	}
	return json.Unmarshal(raw, (*string)(c))
}

// Stated returns the settings with the defaults of those that aren't set.
func (r UpstreamRetries) Stated() UpstreamRetries {
	stateNumbers(r.numbers())
	if r.On == nil {
		r.On = &[]RetryCondition{}
	}
	return r
}

// AreDefaults reports whether all settings have their defaults.
func (r UpstreamRetries) AreDefaults() bool {
	return areDefaults(r.numbers()) && len(*r.Stated().On) == 0
}

// Include reports whether the condition causes a retry.
func (r UpstreamRetries) Include(c RetryCondition) bool {
	return r.On != nil && slices.Contains(*r.On, c)
}

// Over returns the settings was with the change r applied.
func (r UpstreamRetries) Over(was UpstreamRetries) UpstreamRetries {
	changeNumbers(was.numbers(), r.numbers())
	if r.On != nil {
		was.On = r.On
	}
	return was
}
