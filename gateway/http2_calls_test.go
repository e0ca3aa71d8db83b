package gateway_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/gateway"
	"postern/testkit"
)

// data sends a part of a body.
func (c *h2conn) data(stream uint32, end bool, piece string) {
	c.t.Helper()
	if err := c.frames.WriteData(stream, end, []byte(piece)); err != nil {
		c.t.Fatal(err)
	}
}

// begun is the header of a call with a body.
func begun(key string, more ...string) []string {
	fields := pseudo(key, more...)
	fields[1] = "POST"
	return fields
}

// A body of HTTP/2 has the limits that one of HTTP/1.1 has, and the answers.
func TestHTTP2_bodies(t *testing.T) {
	for name, tc := range map[string]struct {
		limits gateway.Limits
		fields []string
		pieces []string // the last ends the body if end is set
		end    bool
		want   string
	}{
		"whole":                       {gateway.Limits{}, nil, []string{"he", "llo"}, true, "200"},
		"over the limit":              {gateway.Limits{Body: 3}, nil, []string{"he", "llo"}, true, "413"},
		"over the limit as announced": {gateway.Limits{Body: 3}, []string{"content-length", "5"}, nil, false, "413"},
		"stalled": {
			gateway.Limits{Idle: time.Second}, nil, []string{"he"}, false, "408",
		},
		"too slow": {
			gateway.Limits{BodyRate: 100, BodyGrace: 500 * time.Millisecond}, nil, []string{"he"}, false, "408",
		},
		"shorter than its length": {
			gateway.Limits{}, []string{"content-length", "9"}, []string{"he", "llo"}, true, "reset",
		},
		"longer than its length": {
			gateway.Limits{}, []string{"content-length", "3"}, []string{"he", "llo"}, true, "reset",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole := make(chan string, 2)
			r := newRig(t, func(_ http.ResponseWriter, req *http.Request) {
				if body, err := io.ReadAll(req.Body); err == nil {
					whole <- string(body)
				}
			}, overTLS(newPair(t)), withLimits(tc.limits))
			c := r.dialHTTP2(t)
			stream := c.send(false, begun(r.key, tc.fields...)...)
			for i, piece := range tc.pieces {
				c.data(stream, tc.end && i == len(tc.pieces)-1, piece)
			}
			if got := c.outcome(stream); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
			if got := c.outcome(c.send(true, pseudo(r.key)...)); got != "200" {
				t.Errorf("the next call on the connection gets %s", got)
			}
			want := "" // of the next call
			if tc.want == "200" {
				want = "hello"
			}
			if got := within(t, "a whole body", whole); got != want {
				t.Errorf("the upstream took %q for a whole body, want %q", got, want)
			}
		})
	}
}

// A body arrives piece by piece, also if its length is known, and a response too.
func TestHTTP2_streams(t *testing.T) {
	r := newRig(t, func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).EnableFullDuplex()
		piece := make([]byte, 64)
		for {
			n, err := req.Body.Read(piece)
			_, _ = w.Write(piece[:n])
			_ = http.NewResponseController(w).Flush()
			if err != nil {
				return
			}
		}
	}, overTLS(newPair(t)))
	for name, length := range map[string]int64{
		"unknown length": -1,
		"known length":   int64(len("firstsecondthird")),
	} {
		t.Run(name, func(t *testing.T) {
			in, out := io.Pipe()
			req, _ := http.NewRequestWithContext(t.Context(), "POST", "https://shop.proxy.test/1.0.0/prod/a", in)
			req.Header.Set("X-API-Key", r.key)
			req.ContentLength = length
			go func() { _, _ = io.WriteString(out, "first") }()
			resp, err := r.http2().Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			piece := make([]byte, 64)
			for i, want := range []string{"first", "second", "third"} {
				if i > 0 {
					_, _ = io.WriteString(out, want)
				}
				if want == "third" {
					_ = out.Close() // net/http's client holds the last piece of a known length back until then
				}
				if n, err := resp.Body.Read(piece); err != nil || string(piece[:n]) != want {
					t.Fatalf("read %q, %v; want %q", piece[:n], err, want)
				}
			}
			if rest, err := io.ReadAll(resp.Body); err != nil || len(rest) > 0 {
				t.Errorf("behind the end: %q, %v", rest, err)
			}
		})
	}
}

func TestHTTP2_responses(t *testing.T) {
	r := newRig(t, func(w http.ResponseWriter, req *http.Request) {
		switch {
		case strings.HasSuffix(req.URL.Path, "/hints"):
			w.Header().Set("Link", "</a>; rel=preload")
			w.WriteHeader(http.StatusEarlyHints)
			w.Header().Del("Link")
		case strings.HasSuffix(req.URL.Path, "/trailers"):
			w.Header().Set("Trailer", "X-Sum")
			_, _ = io.WriteString(w, "body")
			w.Header().Set("X-Sum", "1")
			return
		case strings.HasSuffix(req.URL.Path, "/broken"):
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "part")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, "page")
	}, overTLS(newPair(t)))
	client := r.http2()
	call := func(path string, trace *httptrace.ClientTrace) (*http.Response, string, error) {
		ctx := t.Context()
		if trace != nil {
			ctx = httptrace.WithClientTrace(ctx, trace)
		}
		req, _ := http.NewRequestWithContext(ctx, "GET", "https://shop.proxy.test/1.0.0/prod"+path, nil)
		req.Header.Set("X-API-Key", r.key)
		resp, err := client.Do(req)
		if err != nil {
			return nil, "", err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		return resp, string(body), err
	}
	var hints []string
	resp, body, err := call("/hints", &httptrace.ClientTrace{
		Got1xxResponse: func(code int, header textproto.MIMEHeader) error {
			hints = append(hints, http.StatusText(code)+" "+header.Get("Link"))
			return nil
		},
	})
	if err != nil || body != "page" || len(hints) != 1 || hints[0] != "Early Hints </a>; rel=preload" ||
		resp.Header.Get("Link") != "" {
		t.Errorf("hints: %q, %v, %v, %v", body, hints, resp, err)
	}
	if resp, body, err = call("/trailers", nil); err != nil || body != "body" || resp.Trailer.Get("X-Sum") != "1" {
		t.Errorf("trailers: %q, %v, %v", body, resp, err)
	}
	if _, body, err = call("/broken", nil); err == nil {
		t.Errorf("%q passes for the whole response", body)
	}
	if _, body, err = call("/page", nil); err != nil || body != "page" {
		t.Errorf("behind a broken response: %q, %v", body, err)
	}
}

// The call at the upstream ends with its caller, although the connection goes on.
func TestHTTP2_resetCalls(t *testing.T) {
	arrived, gone := make(chan struct{}), make(chan struct{})
	r := newRig(t, func(_ http.ResponseWriter, req *http.Request) {
		if strings.HasSuffix(req.URL.Path, "/wait") {
			close(arrived)
			<-req.Context().Done()
			close(gone)
		}
	}, overTLS(newPair(t)))
	c := r.dialHTTP2(t)
	fields := pseudo(r.key)
	fields[7] = "/1.0.0/prod/wait"
	stream := c.send(true, fields...)
	within(t, "the call at the upstream", arrived)
	_ = c.frames.WriteRSTStream(stream, http2.ErrCodeCancel)
	within(t, "its end", gone)
	if got := c.outcome(c.send(true, pseudo(r.key)...)); got != "200" {
		t.Errorf("the next call gets %s", got)
	}
}

// A caller that opens no window holds its call, and the connection to the upstream, for Limits.Idle.
func TestHTTP2_unreadResponses(t *testing.T) {
	told := make(chan gateway.Outcome, 4)
	r := newRig(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1<<20)) },
		overTLS(newPair(t)), withLimits(gateway.Limits{Idle: 300 * time.Millisecond}),
		func(_ *rig, o *gateway.Options) { o.Observer = observing(told) })
	c := r.dialHTTP2(t)
	if err := c.frames.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0}); err != nil {
		t.Fatal(err)
	}
	c.send(true, pseudo(r.key)...)
	if out := within(t, "the end of the call", told); out.Status != http.StatusOK || out.BytesOut >= 1<<20 {
		t.Errorf("recorded as %d with %d bytes", out.Status, out.BytesOut)
	}
}

// A call whose caller does not read ends with its key nevertheless, long before the write times out.
func TestHTTP2_endedCalls(t *testing.T) {
	told := make(chan gateway.Outcome, 4)
	l := newLasting(t, overTLS(newPair(t)), func(_ *rig, o *gateway.Options) { o.Observer = observing(told) })
	c := l.dialHTTP2(t)
	const most = 1<<31 - 1
	err := c.frames.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: most})
	if err := errors.Join(err, c.frames.WriteWindowUpdate(0, most-65535)); err != nil {
		t.Fatal(err)
	}
	fields := pseudo(l.key)
	fields[7] = "/1.0.0/prod/large"
	c.send(true, fields...)
	var before int64
	testkit.Eventually(t, "sockets that take no more", func() bool {
		pieces := l.pieces.Load()
		full := pieces > 0 && pieces == before
		before = pieces
		return full
	})
	l.state(snapshot.KeyRevoked)
	within(t, "the end at the upstream", l.left)
	if out := within(t, "the report", told); out.Code != policy.InvalidKey.Code {
		t.Errorf("it ended with %q", out.Code)
	}
}

// Shutdown ends connections of HTTP/2 after their calls, and takes no more.
func TestHTTP2_shutdown(t *testing.T) {
	arrived, release := make(chan struct{}), make(chan struct{})
	r := newRig(t, func(w http.ResponseWriter, _ *http.Request) {
		close(arrived)
		<-release
		_, _ = io.WriteString(w, "late")
	}, overTLS(newPair(t)))
	client := r.http2()
	answered := make(chan reply, 1)
	go func() { answered <- r.over(client, "GET", "/1.0.0/prod/a", nil) }()
	within(t, "the call at the upstream", arrived)
	stopped, released := make(chan error, 1), atomic.Bool{}
	go func() {
		err := r.server.Shutdown(t.Context())
		if !released.Load() {
			err = fmt.Errorf("stopped with a running call: %w", err)
		}
		stopped <- err
	}()
	testkit.Eventually(t, "no connection is taken", func() bool {
		conn, err := net.Dial("tcp", r.addr)
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	})
	released.Store(true)
	close(release)
	if got := within(t, "the answer", answered); got.body != "late" {
		t.Errorf("answered %d %q", got.StatusCode, got.body)
	}
	if err := within(t, "the stop", stopped); err != nil {
		t.Error(err)
	}
}

// A Shutdown that is cut short, and Close after it, end the calls.
func TestHTTP2_close(t *testing.T) {
	arrived, gone := make(chan struct{}), make(chan struct{})
	r := newRig(t, func(_ http.ResponseWriter, req *http.Request) {
		close(arrived)
		<-req.Context().Done()
		close(gone)
	}, overTLS(newPair(t)), withMode(snapshot.Passthrough))
	c := r.dialHTTP2(t)
	stream := c.send(true, pseudo(r.key)...)
	within(t, "the call at the upstream", arrived)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := r.server.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the stop ended with %v", err)
	}
	_ = r.server.Close()
	within(t, "the end at the upstream", gone)
	if got := c.outcome(stream); got != "hung up" && got != "go away: NO_ERROR" {
		t.Errorf("the call ended with %s", got)
	}
	if open, _ := r.server.Conns(); open != 0 {
		t.Errorf("%d connections are counted", open)
	}
}

// An upstream that dies in its responses spoils no other call of the connection.
func TestHTTP2_independentCalls(t *testing.T) {
	target := rawUpstream(t, func(conn net.Conn, from *bufio.Reader) {
		for {
			head, err := readHead(from)
			if err != nil {
				return
			}
			length := "4"
			if strings.Contains(head, "/dies") {
				length = "9"
			}
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: "+length+"\r\n\r\nbody")
			if length == "9" {
				return
			}
		}
	})
	r := newRig(t, nil, overTLS(newPair(t)), withTarget(target))
	client := r.http2()
	done := make(chan error, 64)
	for i := range 64 {
		go func() {
			path := "/1.0.0/prod/lives"
			if i%4 == 0 {
				path = "/1.0.0/prod/dies"
			}
			req, _ := http.NewRequestWithContext(t.Context(), "GET", "https://shop.proxy.test"+path, nil)
			req.Header.Set("X-API-Key", r.key)
			resp, err := client.Do(req)
			var body []byte
			if err == nil {
				body, err = io.ReadAll(resp.Body)
				_ = resp.Body.Close()
			}
			if failed := err != nil; failed != (i%4 == 0) {
				done <- errors.Join(errors.New(path+": "+string(body)), err)
				return
			}
			done <- nil
		}()
	}
	for range 64 {
		if err := within(t, "a call", done); err != nil {
			t.Error(err)
		}
	}
}
