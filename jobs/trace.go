package jobs

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"postern/platform/traces"
)

// parentField is the field of a job's metadata with the traceparent of the request that queued it.
const parentField = "traceparent"

// queuedBy is a river.JobInsertMiddleware that keeps with a job which request queued it, if that is recorded.
type queuedBy struct{ river.MiddlewareDefaults }

// InsertMany implements rivertype.JobInsertMiddleware.
func (*queuedBy) InsertMany(
	ctx context.Context, jobs []*rivertype.JobInsertParams,
	insert func(context.Context) ([]*rivertype.JobInsertResult, error),
) ([]*rivertype.JobInsertResult, error) {
	if span := traces.Of(ctx); span != nil {
		for _, job := range jobs {
			job.Metadata = withParent(job.Metadata, span.Remote())
		}
	}
	return insert(ctx)
}

func withParent(metadata []byte, parent traces.Remote) []byte {
	fields := map[string]json.RawMessage{}
	if len(metadata) > 0 && json.Unmarshal(metadata, &fields) != nil {
		return metadata // not an object: River's own, and no place for ours
	}
	fields[parentField] = json.RawMessage(strconv.Quote(parent.Parent()))
	with, err := json.Marshal(fields)
	if err != nil {
		return metadata
	}
	return with
}

// parentOf returns the span that queued a job, the zero value for none.
func parentOf(job *rivertype.JobRow) traces.Remote {
	var fields map[string]json.RawMessage
	var parent string
	if json.Unmarshal(job.Metadata, &fields) != nil || json.Unmarshal(fields[parentField], &parent) != nil {
		return traces.Remote{}
	}
	return traces.ParseRemote([]string{parent}, nil)
}

// tracedError tells the trace of the attempt that it is of: River's error handler gets another context.
type tracedError struct {
	error

	trace string
}

// Unwrap returns the attempt's error.
func (e *tracedError) Unwrap() error { return e.error }

// traced is a river.WorkerMiddleware that records attempts as separate traces, linked to the request that queued the
// job. The attempts at a job of a recorded request are all recorded.
type traced struct {
	river.MiddlewareDefaults

	tracer *traces.Tracer // nil: nothing is traced
}

// Work implements rivertype.WorkerMiddleware.
func (m *traced) Work(ctx context.Context, job *rivertype.JobRow, work func(context.Context) error) error {
	if m.tracer == nil {
		return work(ctx)
	}
	parent := parentOf(job)
	ctx, span := m.tracer.Begin(ctx, traces.Begin{
		Name:   "job " + job.Kind,
		Kind:   traces.Consumer,
		Links:  []traces.Remote{parent},
		Always: !parent.IsZero(),
		Attrs: []traces.Attr{
			traces.String("postern.job.kind", job.Kind),
			traces.Int("postern.job.attempt", job.Attempt),
		},
	})
	if span == nil {
		return work(ctx)
	}
	returned := false
	defer func() { // after a panic too
		if !returned {
			span.Fail("panic")
		}
		span.End()
	}()
	err := work(ctx)
	returned = true
	if err != nil {
		span.Fail(traces.ErrorType(err))
		return &tracedError{error: err, trace: span.TraceID()}
	}
	return nil
}
