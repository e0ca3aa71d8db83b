package contract

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// UpstreamChecks find targets that don't work. If there is a path, active checks alone decide. Otherwise,
// passive_failures decides.
type UpstreamChecks struct {
	Path       *string `json:"path,omitempty" flag:"check-path" doc:"Path that active checks request, such as /healthz. If empty, there are no active checks, and the health of targets depends only on the results of calls"`
	IntervalMS *int    `json:"interval_ms,omitempty" flag:"check-interval,milliseconds" doc:"Time between checks of a target, in milliseconds, from 1 second to 1 hour. Without active checks, this is how long a target gets no calls after too many calls to it have failed. Defaults to 10 seconds"`
	TimeoutMS  *int    `json:"timeout_ms,omitempty" flag:"check-timeout,milliseconds" doc:"How long a check can take, in milliseconds, up to 1 minute. Defaults to 2 seconds"`
	Healthy    *int    `json:"healthy,omitempty" flag:"check-healthy" doc:"Number of consecutive successful checks after which a target gets calls again, up to 100. Defaults to 2"`
	Unhealthy  *int    `json:"unhealthy,omitempty" flag:"check-unhealthy" doc:"Number of consecutive failed checks after which a target gets no calls, up to 100. Defaults to 3"`

	Statuses        []StatusRange `json:"statuses,omitempty" flag:"check-statuses,list" doc:"Status codes that count as success: numbers, or ranges such as 200-399. Defaults to 200-399"`
	PassiveFailures *int          `json:"passive_failures,omitempty" flag:"passive-failures" doc:"Number of consecutive failed calls after which a target gets no calls for a while, up to 1,000. Use 0 to turn this off. Applies only without a path and with more than one target. Defaults to 5" help:"Number of consecutive failed calls after which a target gets no calls for a while, up to 1,000. Use 0 to turn this off. Applies only without --check-path and with more than one target. Defaults to 5"`
}

// UpstreamBreaker stops calls to a target that keeps failing.
type UpstreamBreaker struct {
	Failures *int `json:"failures,omitempty" flag:"breaker-failures" doc:"How many calls to a target must fail within the window before calls to it are stopped, up to 1,000. Use 0 for no breaker. Defaults to 0"`
	WindowMS *int `json:"window_ms,omitempty" flag:"breaker-window,milliseconds" doc:"Time window in which failures are counted, in milliseconds, up to 1 hour. Defaults to 10 seconds"`
	OpenMS   *int `json:"open_ms,omitempty" flag:"breaker-open,milliseconds" doc:"How long calls to the target are stopped before one is let through to test it, in milliseconds, up to 1 hour. Defaults to 10 seconds"`
}

const (
	mostInRow    = 100
	mostFailures = 1000
	mostCheckMS  = 60 * 1000 // a check that hangs takes one of the few turns
)

func (c *UpstreamChecks) numbers() []UpstreamNumber {
	return []UpstreamNumber{
		{"interval_ms", c.IntervalMS, 10_000, 1000, mostTimeoutMS, &c.IntervalMS},
		{"timeout_ms", c.TimeoutMS, 2_000, 1, mostCheckMS, &c.TimeoutMS},
		{"healthy", c.Healthy, 2, 1, mostInRow, &c.Healthy},
		{"unhealthy", c.Unhealthy, 3, 1, mostInRow, &c.Unhealthy},
		{"passive_failures", c.PassiveFailures, 5, 0, mostFailures, &c.PassiveFailures},
	}
}

// Numbers returns the members that are numbers, in their order.
func (c UpstreamChecks) Numbers() []UpstreamNumber { return c.numbers() }

// Active reports whether there are active checks.
func (c UpstreamChecks) Active() bool { return c.Path != nil && *c.Path != "" }

// Stated returns the checks with the defaults of members that aren't set.
func (c UpstreamChecks) Stated() UpstreamChecks {
	stateNumbers(c.numbers())
	if c.Path == nil {
		c.Path = new("")
	}
	if c.Statuses == nil {
		c.Statuses = []StatusRange{"200-399"}
	}
	return c
}

// AreDefaults reports whether all members have their defaults.
func (c UpstreamChecks) AreDefaults() bool {
	def := UpstreamChecks{}.Stated()
	return !c.Active() && areDefaults(c.numbers()) && slices.Equal(c.Stated().Statuses, def.Statuses)
}

// WatchesTargets reports whether anything decides about the health of the targets: active checks, a breaker, or failed
// calls if there is another target.
func (u Upstream) WatchesTargets() bool {
	return u.Checks.Active() || u.Breaker.Exists() ||
		len(u.Targets) > 1 && *u.Checks.Stated().PassiveFailures > 0
}

func (c UpstreamChecks) over(was UpstreamChecks) UpstreamChecks {
	changeNumbers(was.numbers(), c.numbers())
	if c.Path != nil {
		was.Path = c.Path
	}
	if c.Statuses != nil {
		was.Statuses = c.Statuses
	}
	return was
}

func (b *UpstreamBreaker) numbers() []UpstreamNumber {
	return []UpstreamNumber{
		{"failures", b.Failures, 0, 0, mostFailures, &b.Failures},
		{"window_ms", b.WindowMS, 10_000, 1, mostTimeoutMS, &b.WindowMS},
		{"open_ms", b.OpenMS, 10_000, 1, mostTimeoutMS, &b.OpenMS},
	}
}

// Numbers returns the members in their order.
func (b UpstreamBreaker) Numbers() []UpstreamNumber { return b.numbers() }

// Exists reports whether there is a breaker.
func (b UpstreamBreaker) Exists() bool { return b.Failures != nil && *b.Failures > 0 }

// Stated returns the breaker with the defaults of members that aren't set.
func (b UpstreamBreaker) Stated() UpstreamBreaker {
	stateNumbers(b.numbers())
	return b
}

func (b UpstreamBreaker) over(was UpstreamBreaker) UpstreamBreaker {
	changeNumbers(was.numbers(), b.numbers())
	return was
}

// StatusRange is a status, such as 200, or a range of statuses, such as 200-399. In JSON a status is a number.
type StatusRange string

// Bounds returns the first and the last status of the range, and false if it isn't one.
func (r StatusRange) Bounds() (from, to int, ok bool) {
	first, last, both := strings.Cut(string(r), "-")
	from, err := strconv.Atoi(first)
	if to = from; both && err == nil {
		to, err = strconv.Atoi(last)
	}
	return from, to, err == nil && 100 <= from && from <= to && to <= 599
}

// Contains reports whether the range has a status.
func (r StatusRange) Contains(status int) bool {
	from, to, ok := r.Bounds()
	return ok && from <= status && status <= to
}

// MarshalJSON implements json.Marshaler.
func (r StatusRange) MarshalJSON() ([]byte, error) {
	if status, err := strconv.Atoi(string(r)); err == nil && strconv.Itoa(status) == string(r) {
		return json.Marshal(status)
	}
	return json.Marshal(string(r))
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *StatusRange) UnmarshalJSON(raw []byte) error {
	var status json.Number
	if err := json.Unmarshal(raw, &status); err == nil {
		*r = StatusRange(status)
		return nil
	}
	return json.Unmarshal(raw, (*string)(r))
}
