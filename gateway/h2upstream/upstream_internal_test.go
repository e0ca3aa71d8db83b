package h2upstream

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"postern/gateway/engine"
	"postern/testkit"
)

// upstreamOf returns an upstream of a server that speaks h2c, with the number of connections that were opened to it and
// of those that are open.
func upstreamOf(
	t *testing.T, streams int, h http.HandlerFunc, edit func(*engine.Timeouts),
) (u *Upstream, opened, open *atomic.Int32) {
	t.Helper()
	opened, open = &atomic.Int32{}, &atomic.Int32{}
	server := httptest.NewUnstartedServer(h)
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	server.Config.Protocols = &protocols
	server.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: streams}
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			opened.Add(1)
			open.Add(1)
		case http.StateClosed:
			open.Add(-1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	timeouts := engine.Timeouts{
		Connect: time.Hour, Response: time.Hour, Idle: time.Hour, StreamIdle: time.Hour, ReuseIdle: time.Hour,
	}
	if edit != nil {
		edit(&timeouts)
	}
	u = New(Options{Scheme: "http", Timeouts: timeouts, ResponseBytes: 64 << 10,
		Dial: func(ctx context.Context) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", server.Listener.Addr().String())
		}})
	t.Cleanup(u.Close)
	return u, opened, open
}

// ask makes a call, and returns what ends its response.
func ask(t *testing.T, u *Upstream) func() {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://upstream.test/", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, outcome, err := u.RoundTrip(r)
	if err != nil || outcome != engine.Answered {
		t.Fatalf("outcome %d, %v", outcome, err)
	}
	return func() {
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
	}
}

func answers(http.ResponseWriter, *http.Request) {}

func TestUpstream_reuse(t *testing.T) {
	for name, tc := range map[string]struct {
		edit  func(*engine.Timeouts)
		after func(*Upstream)
		want  int32
	}{
		"in time":                {nil, func(*Upstream) {}, 1},
		"too old":                {nil, func(u *Upstream) { u.conns[0].born = time.Now().Add(-maxAge) }, 2},
		"idle for too long":      {nil, func(u *Upstream) { u.conns[0].used = time.Now().Add(-time.Hour) }, 2},
		"closed by the upstream": {nil, func(u *Upstream) { _ = u.conns[0].Close() }, 2},
	} {
		t.Run(name, func(t *testing.T) {
			u, opened, open := upstreamOf(t, 100, answers, tc.edit)
			ask(t, u)()
			tc.after(u)
			ask(t, u)()
			if n := opened.Load(); n != tc.want {
				t.Errorf("%d connections were opened, want %d", n, tc.want)
			}
			testkit.Eventually(t, "one open connection", func() bool { return open.Load() == 1 })
		})
	}
}

// An idle connection is closed although no other call comes.
func TestUpstream_reap(t *testing.T) {
	u, _, open := upstreamOf(t, 100, answers, func(l *engine.Timeouts) { l.ReuseIdle = time.Millisecond })
	ask(t, u)()
	testkit.Eventually(t, "no open connection", func() bool { return open.Load() == 0 })
	if n := u.Conns(); n != 0 {
		t.Errorf("%d connections are kept", n)
	}
}

// A connection that gets no more calls is closed when the last of its calls is over.
func TestUpstream_callsInProgress(t *testing.T) {
	begun, goOn := make(chan struct{}), make(chan struct{})
	for name, end := range testkit.ByName(map[string]func(*Upstream){
		"too old": func(u *Upstream) {
			u.conns[0].born = time.Now().Add(-maxAge)
			if c := u.reserve(time.Now()); c != nil {
				t.Error("the connection gets another call")
			}
		},
		"closed": (*Upstream).Close,
	}) {
		t.Run(name, func(t *testing.T) {
			u, _, open := upstreamOf(t, 100, func(w http.ResponseWriter, _ *http.Request) {
				_ = http.NewResponseController(w).Flush()
				begun <- struct{}{}
				<-goOn
			}, nil)
			done := make(chan func(), 1)
			go func() { done <- ask(t, u) }()
			<-begun
			finish := <-done
			end(u)
			if open.Load() != 1 {
				t.Error("the connection was closed during a call")
			}
			goOn <- struct{}{}
			finish()
			testkit.Eventually(t, "no open connection", func() bool { return open.Load() == 0 })
		})
	}
}

// Calls share a connection as far as the upstream allows it.
func TestUpstream_streams(t *testing.T) {
	const calls = 6
	for streams, want := range map[int]int32{100: 1, 2: 3} {
		goOn := make(chan struct{})
		u, opened, _ := upstreamOf(t, streams, func(w http.ResponseWriter, _ *http.Request) {
			_ = http.NewResponseController(w).Flush()
			<-goOn
		}, nil)
		var finish []func()
		for range calls { // each after the response of the one before has begun
			finish = append(finish, ask(t, u))
		}
		if n := opened.Load(); n != want {
			t.Errorf("%d calls took %d connections with %d streams, want %d", calls, n, streams, want)
		}
		close(goOn)
		for _, end := range finish {
			end()
		}
	}
}

func TestIsGRPC(t *testing.T) {
	for kind, want := range map[string]bool{
		"application/grpc": true, "application/grpc+proto": true, "Application/gRPC; charset=utf-8": true,
		"application/grpc-web": false, "application/grpc-web+proto": false, "application/json": false, "": false,
		"application/grpcs": false,
	} {
		if got := IsGRPC(kind); got != want {
			t.Errorf("%q: %t", kind, got)
		}
	}
}

func TestWasUnsent_other(t *testing.T) {
	if wasUnsent(errors.New("http2: client connection lost")) || wasUnsent(io.EOF) {
		t.Error("the upstream may have processed such calls")
	}
}
