package gateway_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"postern/core/snapshot"
	"postern/gateway"
	"postern/platform/egress"
	"postern/testkit/ports"
)

func TestUpstream_unreachable(t *testing.T) {
	withoutTLS := rawUpstream(t, func(conn net.Conn, _ *bufio.Reader) {
		_, _ = io.WriteString(conn, "HTTP/1.1 400 Bad\r\n\r\n")
	})
	for name, target := range map[string]string{
		"no one listens":      "http://" + ports.Address(t),
		"a forbidden address": "http://10.0.0.1",
		"not even HTTP": rawUpstream(t, func(conn net.Conn, from *bufio.Reader) {
			_, _ = readHead(from)
			_, _ = io.WriteString(conn, "220 smtp\r\n")
		}),
		"it hangs up":             rawUpstream(t, func(_ net.Conn, from *bufio.Reader) { _, _ = readHead(from) }),
		"TLS where there is none": "https" + strings.TrimPrefix(withoutTLS, "http"),
		"header without end": rawUpstream(t, func(conn net.Conn, from *bufio.Reader) {
			_, _ = readHead(from)
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nX: "+strings.Repeat("x", 1<<20))
		}),
	} {
		r := newRig(t, nil, withTarget(target))
		r.wantCode(name, r.get("/shop/1.0.0/prod"), 502, "upstream_unreachable")
	}
}

func TestUpstream_forbidden(t *testing.T) {
	guard, err := egress.New(egress.Options{}) // loopback is not allowed
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, nil, func(_ *rig, o *gateway.Options) { o.Dial = guard.DialContext })
	r.wantCode("loopback", r.get("/shop/1.0.0/prod"), 502, "upstream_unreachable")
	if calls := r.upstreamCalls(); len(calls) != 0 {
		t.Errorf("the upstream got %v", calls)
	}
}

func TestUpstream_slow(t *testing.T) {
	gone := make(chan struct{})
	r := newRig(t, func(_ http.ResponseWriter, req *http.Request) { <-req.Context().Done(); close(gone) },
		allNever(func(t *snapshot.UpstreamTimeouts) { t.ResponseMS = new(soon) }))
	r.wantCode("no header", r.get("/shop/1.0.0/prod"), 504, "upstream_timeout")
	within(t, "the end of the upstream's call", gone)
}

func TestUpstream_hangingConnect(t *testing.T) {
	soonest := allNever(func(t *snapshot.UpstreamTimeouts) { t.ConnectMS = new(soon) })
	r := newRig(t, nil, soonest, func(_ *rig, o *gateway.Options) {
		o.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }
	})
	r.wantCode("a connect without an end", r.get("/shop/1.0.0/prod"), 504, "upstream_timeout")
}

func TestAnswer_stalled(t *testing.T) {
	r := newRig(t, func(w http.ResponseWriter, req *http.Request) {
		_, _ = io.WriteString(w, "part")
		_ = http.NewResponseController(w).Flush()
		<-req.Context().Done()
	}, allNever(func(t *snapshot.UpstreamTimeouts) { t.IdleMS = new(soon) }))
	conn := r.dial()
	defer func() { _ = conn.Close() }()
	_, _ = io.WriteString(conn, request("GET", "/shop/1.0.0/prod", r.addr, "X-API-Key: "+r.key))
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(resp.Body); err == nil || string(body) != "part" {
		t.Errorf("read %q, %v; want the part and an error", body, err)
	}
}

func TestCaller_stalled(t *testing.T) {
	ended := make(chan error, 1)
	r := newRig(t, func(_ http.ResponseWriter, req *http.Request) {
		_, err := io.Copy(io.Discard, req.Body)
		ended <- err
	}, withLimits(gateway.Limits{Idle: 50 * time.Millisecond}))

	conn := r.dial() // a body that stops coming
	defer func() { _ = conn.Close() }()
	_, _ = io.WriteString(
		conn, request("POST", "/shop/1.0.0/prod", r.addr, "X-API-Key: "+r.key, "Content-Length: 10")+"part",
	)
	if err := within(t, "the end of the upstream's call", ended); err == nil {
		t.Error("the upstream read a part as the whole body")
	}

	slow := newRig(t, nil, withLimits(gateway.Limits{ClientHeader: 50 * time.Millisecond})).dial()
	defer func() { _ = slow.Close() }()
	_, _ = io.WriteString(slow, "GET /shop/1.0.0/prod HTTP/1.1\r\nHost: x\r\n") // a header that stops coming
	if _, err := io.ReadAll(slow); isTimeout(err) {
		t.Errorf("the connection was not closed: %v", err)
	}
}

func TestCaller_unreadResponse(t *testing.T) {
	ended := make(chan struct{})
	r := newRig(t, func(w http.ResponseWriter, _ *http.Request) {
		defer close(ended)
		piece := make([]byte, 1<<20)
		for { // more than any socket buffer holds
			if _, err := w.Write(piece); err != nil {
				return
			}
		}
	}, withLimits(gateway.Limits{Idle: 50 * time.Millisecond}))
	conn := r.dial()
	defer func() { _ = conn.Close() }()
	_, _ = io.WriteString(conn, request("GET", "/shop/1.0.0/prod", r.addr, "X-API-Key: "+r.key))
	within(t, "the end of the upstream's call", ended)
}

func TestLimits_headersAndBodies(t *testing.T) {
	r := newRig(t, nil, withLimits(gateway.Limits{HeaderBytes: 8 << 10, Body: 100}))
	if got := r.get("/shop/1.0.0/prod", "X-Big: "+strings.Repeat("x", 32<<10)); got.StatusCode != 431 {
		t.Errorf("a big header: %d, want 431", got.StatusCode)
	}
	if calls := r.upstreamCalls(); len(calls) != 0 {
		t.Errorf("the upstream got %v", calls)
	}
	r.wantCode(
		"a body of known length",
		r.raw(
			request(
				"POST", "/shop/1.0.0/prod", r.addr, "X-API-Key: "+r.key, "Content-Length: 101",
			)+strings.Repeat(
				"x", 101,
			),
		),
		413,
		"body_too_large",
	)
	if calls := r.upstreamCalls(); len(calls) != 0 {
		t.Errorf("the upstream got %v", calls)
	}
	r.wantCode(
		"a body of unknown length",
		r.raw(
			request(
				"POST", "/shop/1.0.0/prod", r.addr, "X-API-Key: "+r.key, "Transfer-Encoding: chunked",
			)+"65\r\n"+strings.Repeat(
				"x", 101,
			)+"\r\n0\r\n\r\n",
		),
		413,
		"body_too_large",
	)
	head := request("POST", "/shop/1.0.0/prod", r.addr, "X-API-Key: "+r.key, "Content-Length: 100")
	if got := r.raw(head + strings.Repeat("x", 100)); got.StatusCode != 200 {
		t.Errorf("a body of just the limit: %d %s", got.StatusCode, got.body)
	}
}

// Calls that hang at one upstream fill its share and no more; another upstream
// is served in the meantime.
func TestUpstream_stuck(t *testing.T) {
	const share = 4
	stuck, release := make(chan struct{}, share), make(chan struct{})
	bad := rawUpstream(t, func(conn net.Conn, from *bufio.Reader) {
		if _, err := readHead(from); err == nil {
			stuck <- struct{}{}
			<-release
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		}
	})
	r := newRig(t, nil, withMode(snapshot.Passthrough), withLimits(gateway.Limits{
		InProgress:        share,
		InProgressFromOne: share,
	}),
		withProject(func(p *snapshot.Project) { p.Versions[0].Environments[0].Target = bad }))
	answers := make(chan int, share)
	for range share {
		go func() { answers <- r.get("/shop/1.0.0/dev").StatusCode }()
		within(t, "a call at the bad upstream", stuck)
	}
	r.wantCode("one more for the stuck upstream", r.get("/shop/1.0.0/dev"), 503, "upstream_busy")
	if got := r.get("/shop/1.0.0/prod"); got.StatusCode != 200 {
		t.Errorf("the other upstream: %d %s", got.StatusCode, got.body)
	}
	close(release)
	for range share {
		if status := within(t, "an answer", answers); status != 200 {
			t.Errorf("a call that hung got %d", status)
		}
	}
	if got := r.get("/shop/1.0.0/dev"); got.StatusCode != 200 {
		t.Errorf("after the release: %d %s", got.StatusCode, got.body)
	}
}

// The share belongs to the upstream, not to the table it was published with.
func TestUpstream_outlivingShare(t *testing.T) {
	stuck, release := make(chan struct{}, 1), make(chan struct{})
	r := newRig(
		t, func(http.ResponseWriter, *http.Request) { stuck <- struct{}{}; <-release },
		withLimits(gateway.Limits{InProgress: 1}),
	)
	done := make(chan int, 1)
	go func() { done <- r.get("/shop/1.0.0/prod").StatusCode }()
	within(t, "the call at the upstream", stuck)
	changed := *r.project
	if err := r.gateway.Publish([]*snapshot.Project{&changed}); err != nil {
		t.Fatal(err)
	}
	more := r.get("/shop/1.0.0/prod")
	r.wantCode("one more after publishing", more, 503, "upstream_busy")
	if more.Header.Get("Retry-After") != "1" {
		t.Errorf("one more is told to come back after %q", more.Header.Get("Retry-After"))
	}
	close(release)
	if status := within(t, "the response", done); status != 200 {
		t.Errorf("the call that was under way got %d", status)
	}
}
