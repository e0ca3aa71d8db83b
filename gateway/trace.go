package gateway

import (
	"context"
	"net/netip"
	"strings"
	"time"

	"postern/core/policy"
)

// Tracer records calls as spans of distributed traces. It must be safe for concurrent use, and must not block.
type Tracer interface {
	// Start returns the trace of a call, or nil if it isn't recorded. sent is the caller's trace context, or the zero
	// value if the trace isn't continued.
	Start(at time.Time, sent TraceContext) CallTrace
}

// CallTrace is the trace of one call. It must not retain its arguments, because strings may point into the call's
// buffers.
type CallTrace interface {
	ID() string               // of the trace, for the log
	Link(TraceContext)        // links the trace to the caller's, which isn't continued
	Context() context.Context // with the trace, for the gateway's own requests; it never ends

	// Forward begins the span of forwarding the call to the upstream at host. It returns the values of traceparent and
	// tracestate for the upstream.
	Forward(host string) (parent, state string)

	// End ends the spans of the call.
	End(Outcome)
}

// TraceContext has the lines of the headers of W3C Trace Context.
type TraceContext struct{ Parent, State []string }

const (
	traceparentHeader = "Traceparent"
	tracestateHeader  = "Tracestate"
)

// trace is the trace of a call, and the headers about it for the upstream.
type trace struct {
	CallTrace // nil: the call isn't recorded, and the caller's header is passed on

	parent, state string // for the upstream; "": the caller's header is passed on
}

// startTrace begins the trace of a call, if the call is recorded. Whether the trace of a caller is continued depends on
// the address that connected: the sampled flag of others would let anyone have every call recorded, and their ids would
// mix calls into other traces (W3C Trace Context, security considerations).
func (c *call) startTrace(peer netip.Addr, values func(name string) []string) {
	sent := func() TraceContext { return TraceContext{values(traceparentHeader), values(tracestateHeader)} }
	if policy.Contains(c.gateway.traceTrusted, peer) {
		c.trace.CallTrace = c.gateway.tracer.Start(c.start, sent())
		return
	}
	if c.trace.CallTrace = c.gateway.tracer.Start(c.start, TraceContext{}); c.trace.CallTrace != nil {
		c.trace.Link(sent())
	}
}

// context returns the context for the gateway's own requests, such as to a token's issuer. It does not end with the
// call: others may wait for the answer too.
func (c *call) context() context.Context {
	if c.trace.CallTrace == nil {
		return context.Background()
	}
	return c.trace.Context()
}

// traceUpstream begins the span of the upstream's part. An upstream whose environment sets the header itself gets that.
func (c *call) traceUpstream() {
	if c.trace.CallTrace == nil {
		return
	}
	parent, state := c.trace.Forward(c.endpoint().host)
	if !c.route.environment.proof.replaces(traceparentHeader) {
		c.trace.parent, c.trace.state = parent, state
	}
}

func (t *trace) id() string {
	if t.CallTrace == nil {
		return ""
	}
	return t.ID()
}

// replaces reports whether a field of the caller is replaced, or left out.
func (t *trace) replaces(name string) bool {
	return t.parent != "" && (len(name) == len(traceparentHeader) && strings.EqualFold(name, traceparentHeader) ||
		len(name) == len(tracestateHeader) && strings.EqualFold(name, tracestateHeader))
}

// lines sets the headers about the trace for the upstream.
func (t *trace) lines(set func(name, value string)) {
	if t.parent == "" {
		return
	}
	set(traceparentHeader, t.parent)
	if t.state != "" {
		set(tracestateHeader, t.state)
	}
}
