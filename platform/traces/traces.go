// Package traces records spans and sends them to a collector of OpenTelemetry.
//
// It owns what is sampled, the queue of finished spans and their export. Spans are sent in batches by one goroutine;
// what the collector doesn't accept in time is dropped and counted, so that a slow or unreachable collector delays
// nothing. It leaves to its callers what a span is called and which attributes it has: never a credential, a value of a
// query or a body.
//
// Standards: the OpenTelemetry specification of tracing and of OTLP over HTTP, by the OpenTelemetry SDK for Go; W3C
// Trace Context.
package traces

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Options configure a Tracer.
type Options struct {
	Endpoint string            // base URL of the collector
	Headers  map[string]string // of requests to it

	// Ratio of the traces that begin here and are recorded. With FollowParent a trace that is continued is recorded if
	// its parent is.
	Ratio        float64
	FollowParent bool

	Service, Version string
	Attributes       map[string]string // of the resource, in addition
	Log              *slog.Logger

	// QueueSize bounds the spans that are not sent yet; 0: 4096.
	QueueSize int
}

// The limits on spans that are kept and sent.
const (
	queueSize   = 4096
	batchSize   = 512
	batchEvery  = 2 * time.Second
	exportLimit = 10 * time.Second // for one batch, retries included

	longestValue = 2048 // bytes of an attribute
	mostValues   = 64   // attributes of a span
	mostLinks    = 8
)

// Tracer starts traces. A nil Tracer starts none. It is safe for concurrent use.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	export   *export
	sampler  sampler
}

// Open returns a tracer that sends to the collector, which need not answer yet. It must be closed.
func Open(o Options) (*Tracer, error) {
	described, err := describe(o)
	if err != nil {
		return nil, err
	}
	size := o.QueueSize
	if size == 0 {
		size = queueSize
	}
	out, err := newExport(o, size)
	if err != nil {
		return nil, err
	}
	provider := sdk.NewTracerProvider(
		sdk.WithSpanProcessor(out),
		sdk.WithResource(described),
		sdk.WithSampler(sdk.AlwaysSample()), // a span is started only if its trace is sampled
		sdk.WithIDGenerator(ids{}),
		sdk.WithRawSpanLimits(sdk.SpanLimits{
			AttributeValueLengthLimit:   longestValue,
			AttributeCountLimit:         mostValues,
			AttributePerLinkCountLimit:  mostLinks,
			AttributePerEventCountLimit: mostLinks,
			EventCountLimit:             mostValues,
			LinkCountLimit:              mostLinks,
		}),
	)
	return &Tracer{
		provider: provider,
		tracer:   provider.Tracer("postern", trace.WithInstrumentationVersion(o.Version)),
		export:   out,
		sampler:  newSampler(o.Ratio, o.FollowParent),
	}, nil
}

// describe returns the resource: what the spans are of.
func describe(o Options) (*resource.Resource, error) {
	var instance [16]byte
	_, _ = rand.Read(instance[:]) // never fails
	attributes := make([]attribute.KeyValue, 0, len(o.Attributes)+4)
	for name, value := range o.Attributes {
		attributes = append(attributes, attribute.String(name, value))
	}
	attributes = append(attributes,
		attribute.String("service.name", o.Service),
		attribute.String("service.version", o.Version),
		attribute.String("service.instance.id", hex.EncodeToString(instance[:])),
	)
	if host, err := os.Hostname(); err == nil {
		attributes = append(attributes, attribute.String("host.name", host))
	}
	described, err := resource.New(context.Background(), resource.WithTelemetrySDK(),
		resource.WithAttributes(attributes...))
	if err != nil {
		return nil, fmt.Errorf("traces: describe this process: %w", err)
	}
	return described, nil
}

// Dropped returns how many spans could not be sent.
func (t *Tracer) Dropped() int64 { return t.export.dropped.Load() }

// Close sends the remaining spans, until ctx ends. It doesn't return an error if the collector doesn't accept them:
// that is logged and counted.
func (t *Tracer) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	err := t.provider.Shutdown(ctx)
	t.export.cut()
	if errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// sampler decides about traces.
type sampler struct {
	bound  uint64 // of the ids of those that are recorded
	follow bool
}

func newSampler(ratio float64, follow bool) sampler {
	s := sampler{follow: follow}
	switch {
	case ratio >= 1:
		s.bound = 1 << 63
	case ratio > 0:
		s.bound = uint64(ratio * (1 << 63))
	}
	return s
}

// takes reports whether a trace that begins with this id is recorded: by the same part of the id as in the SDKs of
// OpenTelemetry, so that services with the same ratio record the same traces.
func (s sampler) takes(id trace.TraceID) bool {
	var n uint64
	for _, b := range id[8:] {
		n = n<<8 | uint64(b)
	}
	return n>>1 < s.bound
}

// continues reports whether the part of a trace that begins here is recorded.
func (s sampler) continues(parent trace.SpanContext) bool {
	if s.follow {
		return parent.IsSampled()
	}
	return s.takes(parent.TraceID())
}
