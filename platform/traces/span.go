package traces

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Kind is the side of an exchange that a span is on.
type Kind = trace.SpanKind

// The kinds.
const (
	Server   = trace.SpanKindServer
	Client   = trace.SpanKindClient
	Consumer = trace.SpanKindConsumer // of a job
	Internal = trace.SpanKindInternal
)

// Attr is an attribute of a span.
type Attr = attribute.KeyValue

// String returns an attribute. Bytes that are not UTF-8, which OTLP cannot carry, are replaced.
func String(name, value string) Attr {
	return attribute.String(name, strings.ToValidUTF8(value, "\ufffd"))
}

// Int returns an attribute.
func Int(name string, value int) Attr { return attribute.Int(name, value) }

// Span is a span of a trace that is recorded. A nil Span records nothing. It is safe for concurrent use.
type Span struct {
	span   trace.Span
	tracer trace.Tracer
	below  *atomic.Int64 // spans that were begun below the first one, including those that are left out
	first  bool
}

// mostBelow bounds the spans of a trace in this process: one export makes thousands of statements, which would take the
// place of all other spans in the queue.
const mostBelow = 256

// Begin says how a span begins that is the first of its trace in this process.
type Begin struct {
	Name   string
	Kind   Kind
	At     time.Time // zero: now
	Parent Remote    // that is continued; zero: a new trace begins
	Links  []Remote
	Always bool // the trace is recorded, whatever the sampler decides
	Attrs  []Attr
}

// Begin begins a span and returns a context with it. It returns ctx and nil if the trace is not recorded.
func (t *Tracer) Begin(ctx context.Context, b Begin) (context.Context, *Span) {
	if t == nil {
		return ctx, nil
	}
	under := context.Background() // of ctx, the SDK would take a parent
	if b.Parent.IsZero() {
		id := newTraceID()
		if !b.Always && !t.sampler.takes(id) {
			return ctx, nil
		}
		under = context.WithValue(under, traceIDKey{}, id)
	} else {
		if !b.Always && !t.sampler.continues(b.Parent.span) {
			return ctx, nil
		}
		under = trace.ContextWithRemoteSpanContext(under, b.Parent.span)
	}
	options := []trace.SpanStartOption{trace.WithSpanKind(b.Kind), trace.WithAttributes(b.Attrs...)}
	if !b.At.IsZero() {
		options = append(options, trace.WithTimestamp(b.At))
	}
	_, begun := t.tracer.Start(under, b.Name, options...)
	span := &Span{span: begun, tracer: t.tracer, below: &atomic.Int64{}, first: true}
	for _, link := range b.Links {
		span.Link(link)
	}
	return With(ctx, span), span
}

type spanKey struct{}

// Of returns the span of a context, nil if there is none.
func Of(ctx context.Context) *Span {
	span, _ := ctx.Value(spanKey{}).(*Span)
	return span
}

// With returns ctx with the span, which requests and statements are recorded below; ctx itself for nil.
func With(ctx context.Context, span *Span) context.Context {
	if span == nil {
		return ctx
	}
	return context.WithValue(ctx, spanKey{}, span)
}

// Start begins a span below that of ctx, nil if ctx lacks one.
func Start(ctx context.Context, kind Kind, name string) (context.Context, *Span) {
	span := Of(ctx).Child(kind, name)
	return With(ctx, span), span
}

// Child begins a span below s, nil if the trace has too many.
func (s *Span) Child(kind Kind, name string) *Span {
	if s == nil || s.below.Add(1) > mostBelow {
		return nil
	}
	_, begun := s.tracer.Start(trace.ContextWithSpan(context.Background(), s.span), name, trace.WithSpanKind(kind))
	return &Span{span: begun, tracer: s.tracer, below: s.below}
}

// SetName replaces the name.
func (s *Span) SetName(name string) {
	if s != nil {
		s.span.SetName(name)
	}
}

// Set sets attributes.
func (s *Span) Set(attributes ...Attr) {
	if s != nil {
		s.span.SetAttributes(attributes...)
	}
}

// Fail marks the span as failed. kind is one of few texts: a code, or the type of an error, never its message, which
// can have values in it.
func (s *Span) Fail(kind string) {
	if s != nil {
		s.span.SetAttributes(String("error.type", kind))
		s.span.SetStatus(codes.Error, "")
	}
}

// Link relates the span to one of another trace. The zero value is not linked.
func (s *Span) Link(to Remote) {
	if s != nil && !to.IsZero() {
		// The tracestate is text of the caller's choice, up to the size of a request's head.
		s.span.AddLink(trace.Link{SpanContext: to.span.WithTraceState(trace.TraceState{})})
	}
}

// End ends the span.
func (s *Span) End() {
	if s == nil {
		return
	}
	if out := s.below.Load() - mostBelow; s.first && out > 0 {
		s.span.SetAttributes(attribute.Int64("postern.spans_left_out", out))
	}
	s.span.End()
}

// Remote returns the span as another process sees it.
func (s *Span) Remote() Remote {
	if s == nil {
		return Remote{}
	}
	return Remote{s.span.SpanContext()}
}

// TraceID returns the id of the trace in hexadecimal, "" for nil.
func (s *Span) TraceID() string {
	if s == nil {
		return ""
	}
	return s.span.SpanContext().TraceID().String()
}

// Parent returns the value of traceparent for what is called, "" for the zero value (W3C Trace Context, section 3.2).
func (r Remote) Parent() string {
	if r.IsZero() {
		return ""
	}
	return "00-" + r.span.TraceID().String() + "-" + r.span.SpanID().String() + "-" + r.span.TraceFlags().String()
}

// State returns the value of tracestate, "" for none.
func (r Remote) State() string { return r.span.TraceState().String() }
