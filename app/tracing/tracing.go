// Package tracing records calls to the gateway as spans: one of the call, and below it one of the upstream's part.
//
// It owns the names and attributes of the spans. They hold what gateway.Outcome holds that is the same for many calls:
// no path, header, query or body, and neither caller nor address. It leaves to package gateway whose traces are
// continued, and to platform/traces what is recorded. Package gateway does not import OpenTelemetry.
//
// Standard: the semantic conventions of OpenTelemetry for HTTP spans.
package tracing

import (
	"context"
	"net"
	"strconv"
	"time"

	"postern/gateway"
	"postern/platform/traces"
)

// Tracer records calls with a traces.Tracer.
type Tracer struct{ Traces *traces.Tracer }

// Start implements gateway.Tracer.
func (t Tracer) Start(at time.Time, sent gateway.TraceContext) gateway.CallTrace {
	_, span := t.Traces.Begin(context.Background(), traces.Begin{
		Name:   "HTTP",
		Kind:   traces.Server,
		At:     at,
		Parent: traces.ParseRemote(sent.Parent, sent.State),
	})
	if span == nil {
		return nil
	}
	return &call{span: span}
}

// call is the trace of one call.
type call struct {
	span     *traces.Span
	upstream *traces.Span // nil before the call is forwarded
}

// ID implements gateway.CallTrace.
func (c *call) ID() string { return c.span.TraceID() }

// Context implements gateway.CallTrace.
func (c *call) Context() context.Context { return traces.With(context.Background(), c.span) }

// Link implements gateway.CallTrace.
func (c *call) Link(sent gateway.TraceContext) {
	c.span.Link(traces.ParseRemote(sent.Parent, sent.State))
}

// Forward implements gateway.CallTrace.
func (c *call) Forward(host string) (parent, state string) {
	c.upstream = c.span.Child(traces.Client, "HTTP")
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	c.upstream.Set(traces.String("server.address", name))
	if n, err := strconv.Atoi(port); err == nil {
		c.upstream.Set(traces.Int("server.port", n))
	}
	remote := c.upstream.Remote()
	return remote.Parent(), remote.State()
}

// End implements gateway.CallTrace.
func (c *call) End(out gateway.Outcome) {
	method, name := traces.Method(out.Method)
	if c.upstream != nil {
		c.upstream.SetName(name)
		c.upstream.Set(traces.String("http.request.method", method))
		switch {
		case out.Code != "":
			c.upstream.Fail(out.Code)
		case out.Status >= 400 && out.Status != statusGone:
			c.upstream.Fail(strconv.Itoa(out.Status))
		}
		if out.Code == "" && out.Status != statusGone {
			c.upstream.Set(traces.Int("http.response.status_code", out.Status))
		}
		c.upstream.End()
	}
	c.span.SetName(name + " " + out.Route)
	c.span.Set(
		traces.String("http.request.method", method),
		traces.String("http.route", out.Route),
		traces.Int("http.response.status_code", out.Status),
		traces.String("postern.project", out.ProjectID),
		traces.String("postern.version", out.VersionID),
		traces.String("postern.environment", out.EnvironmentID),
		traces.String("postern.step", out.Step),
	)
	if out.Code != "" {
		c.span.Set(traces.String("postern.code", out.Code))
	}
	switch {
	case out.Status < 500:
	case out.Code != "":
		c.span.Fail(out.Code)
	default:
		c.span.Fail(strconv.Itoa(out.Status))
	}
	c.span.End()
}

// statusGone is the recorded status of a call whose caller left before the response.
const statusGone = 499
