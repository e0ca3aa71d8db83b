package traces_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"postern/platform/traces"
	"postern/testkit"
	"postern/testkit/servers"
)

func open(t *testing.T, o traces.Options) *traces.Tracer {
	t.Helper()
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	tracer, err := traces.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return tracer
}

func closeNow(t *testing.T, tracer *traces.Tracer, within time.Duration) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), within)
	defer stop()
	if err := tracer.Close(ctx); err != nil {
		t.Error(err)
	}
}

func TestTracer_nil(t *testing.T) {
	var tracer *traces.Tracer
	ctx, span := tracer.Begin(t.Context(), traces.Begin{Name: "a", Always: true})
	if span != nil || traces.Of(ctx) != nil {
		t.Fatal("a nil tracer began a span")
	}
	_, below := traces.Start(ctx, traces.Internal, "b")
	below.Set(traces.String("c", "d"))
	below.Fail("e")
	below.End()
	if below != nil || below.TraceID() != "" || below.Remote().Parent() != "" {
		t.Error("a nil span recorded")
	}
	if err := tracer.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestTracer_resourceAndHeaders(t *testing.T) {
	to := servers.StartCollector(t)
	tracer := open(t, traces.Options{
		Endpoint:   to.URL,
		Headers:    map[string]string{"Authorization": "Bearer quarz"},
		Ratio:      1,
		Service:    "edge",
		Version:    "1.2.3",
		Attributes: map[string]string{"deployment.environment.name": "staging"},
	})
	ctx, span := tracer.Begin(t.Context(), traces.Begin{Name: "outer", Kind: traces.Server})
	_, below := traces.Start(ctx, traces.Internal, "inner")
	below.Set(traces.String("text", "a\xffb"))
	below.End()
	span.End()
	closeNow(t, tracer, time.Minute)
	inner := to.Await(t, func(s servers.Span) bool { return s.Name == "inner" })
	if inner.Parent == "" || inner.Trace != span.TraceID() || inner.Attrs["text"] != "a\ufffdb" {
		t.Errorf("got %+v", inner)
	}
	for name, want := range map[string]string{
		"service.name": "edge", "service.version": "1.2.3", "deployment.environment.name": "staging",
	} {
		if got := inner.Resource[name]; got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if got := to.Header().Get("Authorization"); got != "Bearer quarz" {
		t.Errorf("the collector got Authorization %q", got)
	}
}

// One trace takes no more than its share of the queue.
func TestTracer_boundedSpans(t *testing.T) {
	to := servers.StartCollector(t)
	tracer := open(t, traces.Options{Endpoint: to.URL, Ratio: 1})
	ctx, span := tracer.Begin(t.Context(), traces.Begin{Name: "outer"})
	for range 1000 {
		_, below := traces.Start(ctx, traces.Internal, "inner")
		below.End()
	}
	span.End()
	closeNow(t, tracer, time.Minute)
	outer := to.Await(t, func(s servers.Span) bool { return s.Name == "outer" })
	if n := len(to.Spans()); n != 257 || outer.Attrs["postern.spans_left_out"] != "744" {
		t.Errorf("got %d spans, and %q left out", n, outer.Attrs["postern.spans_left_out"])
	}
}

func TestRatio(t *testing.T) {
	const begun = 20000
	for _, tt := range []struct {
		ratio       float64
		least, most int
	}{{0, 0, 0}, {0.1, begun / 12, begun / 8}, {1, begun, begun}} {
		t.Run(fmt.Sprint(tt.ratio), func(t *testing.T) {
			tracer := open(t, traces.Options{Endpoint: "http://127.0.0.1:1", Ratio: tt.ratio})
			defer closeNow(t, tracer, time.Millisecond)
			recorded := 0
			for range begun {
				if _, span := tracer.Begin(t.Context(), traces.Begin{}); span != nil {
					recorded++ // and never ends: nothing is sent
				}
			}
			if recorded < tt.least || recorded > tt.most {
				t.Errorf("recorded %d of %d, want %d to %d", recorded, begun, tt.least, tt.most)
			}
		})
	}
}

// A collector that never answers delays neither spans nor, beyond its bound, the stop; what it does not take is lost
// and counted.
func TestCollector_hanging(t *testing.T) {
	for _, tt := range []struct {
		name  string
		bound func(context.Context) (context.Context, context.CancelFunc)
		want  error
	}{
		{"the stop has a deadline", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 200*time.Millisecond)
		}, nil},
		{"the stop is cut off", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ended, end := context.WithCancel(ctx)
			end()
			return ended, end
		}, context.Canceled},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tracer := open(t, traces.Options{Endpoint: servers.StartHungCollector(t), Ratio: 1, QueueSize: 100})
			for range 10000 {
				_, span := tracer.Begin(t.Context(), traces.Begin{Name: "a"})
				span.End()
			}
			if dropped := tracer.Dropped(); dropped < 9000 {
				t.Errorf("dropped %d of 10000 spans, want all that do not fit the queue", dropped)
			}
			ctx, end := tt.bound(t.Context())
			defer end()
			if err := tracer.Close(ctx); !errors.Is(err, tt.want) {
				t.Errorf("Close returned %v, want %v", err, tt.want)
			}
			testkit.Await(t, "the loss of all 10,000 spans", func() (int64, bool) {
				dropped := tracer.Dropped()
				return dropped, dropped == 10000
			})
		})
	}
}

// The log says once that the collector refuses spans, and once that it takes them again, without what it answered.
func TestCollector_refusing(t *testing.T) {
	var log testkit.LogBuffer
	var refuses sync.Mutex
	refused := true
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		refuses.Lock()
		defer refuses.Unlock()
		if refused {
			http.Error(w, "who is "+r.Header.Get("Authorization"), http.StatusUnauthorized)
		}
	}))
	defer server.Close()
	tracer := open(t, traces.Options{
		Endpoint:  server.URL,
		Headers:   map[string]string{"Authorization": "Bearer quarz"},
		Ratio:     1,
		QueueSize: 1, // each span is a batch
		Log:       slog.New(slog.NewTextHandler(&log, nil)),
	})
	send := func(dropped int64) {
		_, span := tracer.Begin(t.Context(), traces.Begin{Name: "a"})
		span.End()
		testkit.Eventually(t, "the span to be held no longer", func() bool { return tracer.Held() == 0 })
		if got := tracer.Dropped(); got != dropped {
			t.Fatalf("dropped %d spans, want %d", got, dropped)
		}
	}
	send(1)
	send(2)
	refuses.Lock()
	refused = false
	refuses.Unlock()
	send(2)
	closeNow(t, tracer, time.Minute)
	text := log.String()
	if strings.Count(text, "\n") != 2 || !strings.Contains(text, "401") || !strings.Contains(text, "again") {
		t.Errorf("got the log %s", text)
	}
	if strings.Contains(text, "quarz") {
		t.Errorf("the credential is in the log: %s", text)
	}
}

// A batch that a busy collector refuses is sent again, and spans that it rejects of a batch are counted.
func TestBusyCollector(t *testing.T) {
	var log testkit.LogBuffer
	var requests atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if requests.Add(1) == 1 {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
		answer, err := proto.Marshal(&coltrace.ExportTraceServiceResponse{
			PartialSuccess: &coltrace.ExportTracePartialSuccess{RejectedSpans: 2, ErrorMessage: "too old"},
		})
		if err != nil {
			t.Error(err)
		}
		_, _ = w.Write(answer)
	}))
	defer server.Close()
	tracer := open(t, traces.Options{
		Endpoint: server.URL,
		Ratio:    1,
		Log:      slog.New(slog.NewTextHandler(&log, nil)),
	})
	for range 3 {
		_, span := tracer.Begin(t.Context(), traces.Begin{Name: "a"})
		span.End()
	}
	closeNow(t, tracer, time.Minute)
	if dropped := tracer.Dropped(); dropped != 2 || requests.Load() != 2 {
		t.Errorf("dropped %d spans with %d requests, want 2 with 2", dropped, requests.Load())
	}
	if text := log.String(); !strings.Contains(text, "rejected 2 spans") {
		t.Errorf("got the log %s", text)
	}
}
