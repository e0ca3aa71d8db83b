package gateway_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"postern/app/tracing"
	"postern/gateway"
	"postern/platform/traces"
	"postern/testkit/servers"
)

const (
	sentTrace  = "0af7651916cd43dd8448eb211c80319c"
	sentSpan   = "b7ad6b7169203331"
	sentParent = "00-" + sentTrace + "-" + sentSpan + "-01"
)

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// traced has a rig record calls, and returns what stops that: the spans are at the collector then.
func traced(t testing.TB, url string, ratio float64, trusted []netip.Prefix) (rigOption, func()) {
	t.Helper()
	tracer, err := traces.Open(traces.Options{Endpoint: url, Ratio: ratio, FollowParent: true, Service: "test"})
	if err != nil {
		t.Fatal(err)
	}
	stop := func() {
		if err := tracer.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(stop)
	return func(_ *rig, o *gateway.Options) {
		o.Tracer, o.TraceTrusted = tracing.Tracer{Traces: tracer}, trusted
	}, stop
}

func TestTrace_forwarded(t *testing.T) {
	onBothPaths(t, func(t *testing.T, path rigOption) {
		to := servers.StartCollector(t)
		tracing, stop := traced(t, to.URL, 1, nil)
		seen := outcomes{make(chan gateway.Outcome, 1)}
		r := newRig(t, nil, path, tracing, func(_ *rig, o *gateway.Options) { o.Observer = seen })
		if answer := r.get("/shop/1.0.0/prod/orders/quux?token=quarz", "tracestate: a=1"); answer.StatusCode != 200 {
			t.Fatalf("got %d", answer.StatusCode)
		}
		r.stop(stop)
		server, client := pairOf(t, to)
		if server.Kind != "server" || server.Parent != "" || server.Failed || len(server.Links) > 0 {
			t.Errorf("the call's span is %+v", server)
		}
		if client.Kind != "client" || client.Trace != server.Trace || client.Parent != server.ID || client.Failed {
			t.Errorf("the upstream's span is %+v", client)
		}
		if got := <-seen.got; got.TraceID != server.Trace {
			t.Errorf("the observer got the trace %q, want %q", got.TraceID, server.Trace)
		}
		header := r.lastCall().header
		if got, want := header["Traceparent"], "00-"+client.Trace+"-"+client.ID+"-01"; len(got) != 1 || got[0] != want {
			t.Errorf("the upstream got traceparent %q, want %q", got, want)
		}
		if got := header["Tracestate"]; got != nil {
			t.Errorf("the upstream got tracestate %q of a trace that was not continued", got)
		}
		for name, want := range map[string]string{
			"http.request.method": "GET", "http.route": "/*", "http.response.status_code": "200",
			"postern.project": "prj_shop", "postern.version": "ver_1", "postern.environment": "env_prod",
			"postern.step": "forward",
		} {
			if got := server.Attrs[name]; got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		if server.Name != "GET /*" || client.Name != "GET" || client.Attrs["server.address"] != "127.0.0.1" {
			t.Errorf("got spans %q and %q to %q", server.Name, client.Name, client.Attrs["server.address"])
		}
		for _, secret := range []string{r.key, "quarz", "quux", "billing"} {
			if strings.Contains(to.Text(), secret) {
				t.Errorf("%q is in the spans", secret)
			}
		}
	})
}

// stop ends all calls and then sends their spans.
func (r *rig) stop(send func()) {
	_ = r.server.Close()
	_ = r.gateway.Wait(context.Background())
	send()
}

// pairOf returns the only two spans, that of the call first.
func pairOf(t *testing.T, to *servers.Collector) (server, client servers.Span) {
	t.Helper()
	spans := to.Spans()
	if len(spans) != 2 {
		t.Fatalf("got %d spans, want 2: %+v", len(spans), spans)
	}
	if spans[0].Kind == "server" {
		return spans[0], spans[1]
	}
	return spans[1], spans[0]
}

func TestTrace_refused(t *testing.T) {
	onBothPaths(t, func(t *testing.T, path rigOption) {
		to := servers.StartCollector(t)
		tracing, stop := traced(t, to.URL, 1, nil)
		r := newRig(t, nil, path, tracing)
		r.get("/shop/1.0.0/prod/orders/42", noKey)
		r.stop(stop)
		spans := to.Spans()
		if len(spans) != 1 {
			t.Fatalf("got %d spans, want that of the call alone", len(spans))
		}
		attrs := spans[0].Attrs
		if attrs["postern.code"] != "credentials_required" || attrs["http.response.status_code"] != "401" ||
			attrs["postern.step"] != "access" || spans[0].Failed {
			t.Errorf("got %+v", spans[0])
		}
	})
}

func TestTrace_unreachableUpstream(t *testing.T) {
	onBothPaths(t, func(t *testing.T, path rigOption) {
		to := servers.StartCollector(t)
		tracing, stop := traced(t, to.URL, 1, nil)
		r := newRig(t, nil, path, tracing, withTarget("http://127.0.0.1:1"))
		r.get("/shop/1.0.0/prod/")
		r.stop(stop)
		server, client := pairOf(t, to)
		for _, span := range []servers.Span{server, client} {
			if !span.Failed || span.Attrs["error.type"] != "upstream_unreachable" {
				t.Errorf("got %+v", span)
			}
		}
		if !strings.Contains(r.log.String(), "trace_id="+server.Trace) {
			t.Errorf("the log does not name the trace: %s", r.log.String())
		}
	})
}

// The caller's trace context counts only if the caller is trusted.
func TestTraceContext(t *testing.T) {
	const state = "vendor=1,other=2"
	for _, tt := range []struct {
		name              string
		ratio             float64
		trusted           []netip.Prefix
		lines             []string
		sampled           bool
		continued, linked bool
	}{
		{"nothing sent, none sampled", 0, loopback, nil, false, false, false},
		{"trusted and sampled", 0, loopback, []string{"traceparent: " + sentParent}, true, true, false},
		{
			"trusted and not sampled", 1, loopback, []string{"traceparent: " + sentParent[:53] + "00"},
			false, false, false,
		},
		{"not trusted", 0, nil, []string{"traceparent: " + sentParent}, false, false, false},
		{"not trusted, sampled here", 1, nil, []string{"traceparent: " + sentParent}, true, false, true},
		{"invalid", 1, loopback, []string{"traceparent: 00-" + sentTrace + "-0-01"}, true, false, false},
		{"invalid, none sampled", 0, loopback, []string{"traceparent: quark"}, false, false, false},
		{"upper case", 1, loopback, []string{"TraceParent: " + strings.ToUpper(sentParent)}, true, false, false},
		{
			"two lines", 1, loopback,
			[]string{"traceparent: " + sentParent, "traceparent: " + sentParent},
			true, false, false,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			onBothPaths(t, func(t *testing.T, path rigOption) {
				to := servers.StartCollector(t)
				tracing, stop := traced(t, to.URL, tt.ratio, tt.trusted)
				r := newRig(t, nil, path, tracing)
				r.get("/shop/1.0.0/prod/", append(tt.lines, "tracestate: "+state)...)
				r.stop(stop)
				header := r.lastCall().header
				if !tt.sampled {
					if n := len(to.Spans()); n > 0 {
						t.Errorf("got %d spans, want none", n)
					}
					handedOn(t, header, tt.lines, state)
					return
				}
				server, client := pairOf(t, to)
				if got := header["Traceparent"]; len(got) != 1 || got[0] != "00-"+client.Trace+"-"+client.ID+"-01" {
					t.Errorf("the upstream got traceparent %q, the span is %+v", got, client)
				}
				if continued := server.Trace == sentTrace && server.Parent == sentSpan; continued != tt.continued {
					t.Errorf("continued: %v, want %v: %+v", continued, tt.continued, server)
				}
				if got := header.Get("Tracestate") == state; got != tt.continued {
					t.Errorf("the upstream got tracestate %q", header["Tracestate"])
				}
				if linked := len(server.Links) == 1 && server.Links[0] == sentTrace+"-"+sentSpan; linked != tt.linked {
					t.Errorf("linked: %v, want %v: %+v", linked, tt.linked, server)
				}
			})
		})
	}
}

// handedOn checks that the upstream got the trace headers as they were sent.
func handedOn(t *testing.T, header http.Header, lines []string, state string) {
	t.Helper()
	var want []string
	for _, line := range lines {
		_, value, _ := strings.Cut(line, ": ")
		want = append(want, value)
	}
	if got := strings.Join(header["Traceparent"], "|"); got != strings.Join(want, "|") {
		t.Errorf("the upstream got traceparent %q, want %q", got, want)
	}
	if got := header["Tracestate"]; len(got) != 1 || got[0] != state {
		t.Errorf("the upstream got tracestate %q, want %q", got, state)
	}
}

func BenchmarkForwardTraced(b *testing.B) {
	for _, tt := range []struct {
		name  string
		ratio float64
	}{{"1%", 0.01}, {"all", 1}} {
		b.Run(tt.name, func(b *testing.B) {
			sink := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
			}))
			defer sink.Close()
			tracing, stop := traced(b, sink.URL, tt.ratio, nil)
			defer stop()
			benchmarkRig(b, http.StatusOK, []rigOption{tracing})
		})
	}
}
