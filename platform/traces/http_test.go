package traces_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"postern/platform/traces"
	"postern/testkit/servers"
)

// send sends a request within a span and returns that of the request.
func send(
	t *testing.T, with traces.Transport, address string, edit func(context.Context) context.Context,
) servers.Span {
	t.Helper()
	to := servers.StartCollector(t)
	tracer := open(t, traces.Options{Endpoint: to.URL, Ratio: 1})
	ctx, outer := tracer.Begin(t.Context(), traces.Begin{Name: "outer"})
	if edit != nil {
		ctx = edit(ctx)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader("quarz"))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer quarz")
	if answer, err := (&http.Client{Transport: with}).Do(request); err == nil {
		_, _ = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
	}
	if got := request.Header.Get("Traceparent"); got != "" {
		t.Errorf("the caller's request was changed: it has traceparent %q", got)
	}
	outer.End()
	closeNow(t, tracer, time.Minute)
	if strings.Contains(to.Text(), "quarz") {
		t.Errorf("a secret is in the spans: %s", to.Text())
	}
	span := to.Await(t, func(s servers.Span) bool { return s.Name != "outer" })
	if span.Trace != outer.TraceID() || span.Parent == "" || span.Kind != "client" {
		t.Errorf("got %+v, want a span below the outer one", span)
	}
	return span
}

func TestTransport(t *testing.T) {
	base := &http.Transport{}
	defer base.CloseIdleConnections()
	var header http.Header
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/hung": // may begin after its caller gave up, so it sets nothing that a later call reads
			_, _ = io.Copy(io.Discard, r.Body) // or the end of the connection is not noticed
			<-r.Context().Done()
		case "/refused":
			w.WriteHeader(http.StatusForbidden)
		default:
			header = r.Header
		}
	}))
	defer server.Close()
	host, port, _ := strings.Cut(strings.TrimPrefix(server.URL, "http://"), ":")
	plain := traces.Transport{Base: base, Purpose: "provider"}
	t.Run("answered", func(t *testing.T) {
		span := send(t, plain, server.URL+"/quarz?quarz=1", nil)
		for name, want := range map[string]string{
			"http.request.method": "POST", "http.response.status_code": "200", "server.address": host,
			"server.port": port,
		} {
			if got := span.Attrs[name]; got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		if span.Name != "POST provider" || span.Failed || len(span.Attrs) != 4 {
			t.Errorf("got %+v", span)
		}
		if got := header.Get("Traceparent"); got != "" {
			t.Errorf("the receiver got traceparent %q", got)
		}
	})
	t.Run("refused", func(t *testing.T) {
		if span := send(t, plain, server.URL+"/refused", nil); !span.Failed || span.Attrs["error.type"] != "403" {
			t.Errorf("got %+v", span)
		}
	})
	t.Run("unreachable", func(t *testing.T) {
		span := send(t, plain, "http://quarz:quarz@127.0.0.1:1/", nil)
		if !span.Failed || span.Attrs["error.type"] != "error" {
			t.Errorf("got %+v", span)
		}
	})
	t.Run("too slow", func(t *testing.T) {
		var stop context.CancelFunc
		span := send(t, plain, server.URL+"/hung", func(ctx context.Context) context.Context {
			ctx, stop = context.WithTimeout(ctx, time.Millisecond)
			return ctx
		})
		stop()
		if !span.Failed || span.Attrs["error.type"] != "timeout" {
			t.Errorf("got %+v", span)
		}
	})
	t.Run("propagated", func(t *testing.T) {
		span := send(t, traces.Transport{Base: base, Purpose: "webhook", Propagate: true}, server.URL, nil)
		if got, want := header.Get("Traceparent"), "00-"+span.Trace+"-"+span.ID+"-01"; got != want {
			t.Errorf("the receiver got traceparent %q, want %q", got, want)
		}
		if header["Tracestate"] != nil || header["Baggage"] != nil {
			t.Errorf("the receiver got more of the trace: %v", header)
		}
	})
	t.Run("named", func(t *testing.T) {
		exchange := func(ctx context.Context) context.Context { return traces.For(ctx, "token") }
		span := send(t, plain, server.URL, exchange)
		if span.Name != "POST token" {
			t.Errorf("got %q", span.Name)
		}
		if span = send(t, plain, server.URL+"/a/.well-known/openid-configuration", nil); span.Name != "POST discovery" {
			t.Errorf("got %q", span.Name)
		}
	})
}

// Without a span, a request is sent unchanged.
func TestTransport_notRecorded(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if got := r.Header["Traceparent"]; got != nil {
			t.Errorf("the receiver got traceparent %q", got)
		}
	}))
	defer server.Close()
	client := http.Client{Transport: traces.Transport{Base: http.DefaultTransport, Propagate: true}}
	defer client.CloseIdleConnections()
	answer, err := client.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
}
