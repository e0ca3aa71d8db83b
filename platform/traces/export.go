package traces

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// export is the span processor: a bounded queue before the SDK's batches, which count nothing of what they drop.
type export struct {
	sdk.SpanProcessor

	sender  *sender
	size    int64
	held    atomic.Int64 // spans in the queue and in the batch that is being sent
	dropped atomic.Int64
}

func newExport(o Options, size int) (*export, error) {
	out := &export{size: int64(size)}
	client := newClient(o)
	to, err := otlptrace.New(context.Background(), client)
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	out.sender = &sender{SpanExporter: to, client: client, log: o.Log, out: out}
	out.SpanProcessor = sdk.NewBatchSpanProcessor(out.sender,
		sdk.WithMaxQueueSize(size+1), // held is checked first: this queue is never full
		sdk.WithMaxExportBatchSize(min(batchSize, size)),
		sdk.WithBatchTimeout(batchEvery),
		sdk.WithExportTimeout(exportLimit),
	)
	return out, nil
}

// OnEnd implements sdk.SpanProcessor. It drops a span for which there is no space.
func (e *export) OnEnd(span sdk.ReadOnlySpan) {
	if e.held.Add(1) > e.size {
		e.held.Add(-1)
		e.dropped.Add(1)
		return
	}
	e.SpanProcessor.OnEnd(span)
}

// cut ends a current request to the collector.
func (e *export) cut() { e.sender.client.stop() }

// sender sends batches, and logs when that begins to fail and when it works again.
type sender struct {
	sdk.SpanExporter

	client  *client
	log     *slog.Logger
	out     *export
	failing bool
}

// ExportSpans implements sdk.SpanExporter. It reports no error: the SDK's handler for them would write to standard
// error.
func (s *sender) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := s.SpanExporter.ExportSpans(ctx, spans)
	s.out.held.Add(-int64(len(spans)))
	if err == nil {
		if s.failing {
			s.log.Info("the collector accepts traces again", "lost", s.out.dropped.Load())
		}
		s.failing = false
		return nil
	}
	dropped := int64(len(spans))
	if some, ok := errors.AsType[rejectedError](err); ok {
		dropped = min(dropped, int64(some))
	}
	s.out.dropped.Add(dropped)
	if !s.failing {
		s.log.Warn("the collector doesn't accept traces; dropping them", "error", reason(err))
	}
	s.failing = true
	return nil
}

// reason returns what is wrong with the collector.
func reason(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "it didn't respond in time"
	}
	text := err.Error()
	if len(text) > maxReason {
		text = text[:maxReason]
	}
	return text
}

// maxReason bounds the text of an error in the log, in bytes.
const maxReason = 300
