package contract

import "slices"

// UpstreamTimeouts bound the waits for an environment's upstream, and how long connections to it are reused. A member
// that is nil has its default, and a change leaves it unchanged. Answers have all members.
type UpstreamTimeouts struct {
	ConnectMS    *int `json:"connect_ms,omitempty" flag:"connect-timeout,milliseconds" doc:"How long connecting to the upstream can take, in milliseconds, up to 1 hour. Applies separately to the TLS handshake. Defaults to 10 seconds"`
	ResponseMS   *int `json:"response_ms,omitempty" flag:"response-timeout,milliseconds" doc:"How long the upstream can take from the end of the request to the first byte of its response, in milliseconds, up to 1 hour. Defaults to 60 seconds"`
	IdleMS       *int `json:"idle_ms,omitempty" flag:"idle-timeout,milliseconds" doc:"How long the upstream can pause in the middle of a response or while it reads a request, in milliseconds, up to 1 hour. Defaults to 60 seconds"`
	StreamIdleMS *int `json:"stream_idle_ms,omitempty" flag:"stream-idle-timeout,milliseconds" doc:"How long an event stream or a WebSocket can be silent, in milliseconds, up to 24 hours. Defaults to 10 minutes"`
	ReuseIdleMS  *int `json:"reuse_idle_ms,omitempty" flag:"reuse-idle-timeout,milliseconds" doc:"How long a connection can be idle and still be used for another call, in milliseconds, up to 1 hour. Use less than the upstream's own keep-alive timeout. Defaults to 4 seconds"`
}

// UpstreamTimeout is one of UpstreamTimeouts, in milliseconds.
type UpstreamTimeout struct {
	Name    string // its JSON name
	Value   *int   // nil: not set
	Default int
	Most    int // the largest value that is allowed. The smallest is 1

	member **int
}

// The largest values of UpstreamTimeouts, in milliseconds.
const (
	mostTimeoutMS    = 60 * 60 * 1000
	mostStreamIdleMS = 24 * mostTimeoutMS
)

// each returns the timeouts in their order, with the members that have them.
func (t *UpstreamTimeouts) each() []UpstreamTimeout {
	return []UpstreamTimeout{
		{"connect_ms", t.ConnectMS, 10_000, mostTimeoutMS, &t.ConnectMS},
		{"response_ms", t.ResponseMS, 60_000, mostTimeoutMS, &t.ResponseMS},
		{"idle_ms", t.IdleMS, 60_000, mostTimeoutMS, &t.IdleMS},
		{"stream_idle_ms", t.StreamIdleMS, 600_000, mostStreamIdleMS, &t.StreamIdleMS},
		{"reuse_idle_ms", t.ReuseIdleMS, 4_000, mostTimeoutMS, &t.ReuseIdleMS},
	}
}

// Each returns the timeouts in their order.
func (t UpstreamTimeouts) Each() []UpstreamTimeout { return t.each() }

// Stated returns the timeouts with the defaults of those that aren't set.
func (t UpstreamTimeouts) Stated() UpstreamTimeouts {
	for _, one := range t.each() {
		if one.Value == nil {
			*one.member = &one.Default
		}
	}
	return t
}

// AreDefaults reports whether all timeouts have their defaults.
func (t UpstreamTimeouts) AreDefaults() bool {
	return !slices.ContainsFunc(t.Each(), func(one UpstreamTimeout) bool {
		return one.Value != nil && *one.Value != one.Default
	})
}

// Over returns what a change makes of timeouts.
func (t UpstreamTimeouts) Over(was UpstreamTimeouts) UpstreamTimeouts {
	changes := t.each()
	for i, one := range was.each() {
		if changes[i].Value != nil {
			*one.member = changes[i].Value
		}
	}
	return was
}
