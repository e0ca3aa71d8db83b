package contract

// UpstreamTimeouts bounds the waits for an environment's upstream, and how long connections to it are reused. A nil
// member means the default, and in a change it leaves the member unchanged. Answers have all members.
type UpstreamTimeouts struct {
	ConnectMS    *int `json:"connect_ms,omitempty" flag:"connect-timeout,milliseconds" doc:"How long connecting to the upstream can take, in milliseconds, up to 1 hour. Applies separately to the TLS handshake. Defaults to 10 seconds"`
	ResponseMS   *int `json:"response_ms,omitempty" flag:"response-timeout,milliseconds" doc:"How long the upstream can take from the end of the request to the first byte of its response, in milliseconds, up to 1 hour. Defaults to 60 seconds"`
	IdleMS       *int `json:"idle_ms,omitempty" flag:"idle-timeout,milliseconds" doc:"How long the upstream can pause in the middle of a response or while it reads a request, in milliseconds, up to 1 hour. Defaults to 60 seconds"`
	StreamIdleMS *int `json:"stream_idle_ms,omitempty" flag:"stream-idle-timeout,milliseconds" doc:"How long an event stream or a WebSocket can be silent, in milliseconds, up to 24 hours. Defaults to 10 minutes"`
	ReuseIdleMS  *int `json:"reuse_idle_ms,omitempty" flag:"reuse-idle-timeout,milliseconds" doc:"How long a connection can be idle and still be used for another call, in milliseconds, up to 1 hour. Use a shorter time than the upstream's own keep-alive timeout. Defaults to 4 seconds"`
}

// The largest values of UpstreamTimeouts, in milliseconds.
const (
	mostTimeoutMS    = 60 * 60 * 1000
	mostStreamIdleMS = 24 * mostTimeoutMS
)

func (t *UpstreamTimeouts) numbers() []UpstreamNumber {
	return []UpstreamNumber{
		{"connect_ms", t.ConnectMS, 10_000, 1, mostTimeoutMS, &t.ConnectMS},
		{"response_ms", t.ResponseMS, 60_000, 1, mostTimeoutMS, &t.ResponseMS},
		{"idle_ms", t.IdleMS, 60_000, 1, mostTimeoutMS, &t.IdleMS},
		{"stream_idle_ms", t.StreamIdleMS, 600_000, 1, mostStreamIdleMS, &t.StreamIdleMS},
		{"reuse_idle_ms", t.ReuseIdleMS, 4_000, 1, mostTimeoutMS, &t.ReuseIdleMS},
	}
}

// Numbers returns the timeouts in their order.
func (t UpstreamTimeouts) Numbers() []UpstreamNumber { return t.numbers() }

// Stated returns the timeouts with the defaults of those that aren't set.
func (t UpstreamTimeouts) Stated() UpstreamTimeouts {
	stateNumbers(t.numbers())
	return t
}

// AreDefaults reports whether all timeouts have their defaults.
func (t UpstreamTimeouts) AreDefaults() bool { return areDefaults(t.numbers()) }

// Over returns the timeouts was with the change t applied.
func (t UpstreamTimeouts) Over(was UpstreamTimeouts) UpstreamTimeouts {
	changeNumbers(was.numbers(), t.numbers())
	return was
}
