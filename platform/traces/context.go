package traces

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"strings"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Names of the headers (W3C Trace Context, section 3), as net/http spells them.
const (
	ParentHeader = "Traceparent"
	StateHeader  = "Tracestate"
)

// Remote is a span of another process. The zero value means none.
type Remote struct{ span trace.SpanContext }

// ParseRemote reads the values of traceparent and tracestate. It returns the zero value unless traceparent is there
// exactly once and valid; an invalid tracestate is ignored (W3C Trace Context, section 4.3). It copies what it keeps:
// the strings of a call end with the call.
func ParseRemote(parent, state []string) Remote {
	if len(parent) != 1 {
		return Remote{}
	}
	ctx := propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{
		"traceparent": parent[0],
		"tracestate":  strings.Clone(strings.Join(state, ",")),
	})
	return Remote{trace.SpanContextFromContext(ctx)}
}

// IsZero reports whether r isn't a span.
func (r Remote) IsZero() bool { return !r.span.IsValid() }

// ids generates random ids, and gives a trace the id that its sampling was decided by.
type ids struct{}

type traceIDKey struct{}

// NewIDs implements sdk.IDGenerator.
func (g ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	id, decided := ctx.Value(traceIDKey{}).(trace.TraceID)
	if !decided {
		id = newTraceID()
	}
	return id, g.NewSpanID(ctx, id)
}

// NewSpanID implements sdk.IDGenerator.
func (ids) NewSpanID(context.Context, trace.TraceID) (id trace.SpanID) {
	for !id.IsValid() {
		binary.NativeEndian.PutUint64(id[:], rand.Uint64()) //nolint:gosec // an id, and no secret
	}
	return id
}

func newTraceID() (id trace.TraceID) {
	for !id.IsValid() {
		binary.NativeEndian.PutUint64(id[:8], rand.Uint64()) //nolint:gosec // an id, and no secret
		binary.NativeEndian.PutUint64(id[8:], rand.Uint64()) //nolint:gosec // the same
	}
	return id
}
