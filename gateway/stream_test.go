package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"postern/core/snapshot"
)

func TestStream_events(t *testing.T) {
	for name, contentType := range map[string]string{
		"server-sent events": "text/event-stream; charset=utf-8",
		"unknown length":     "application/octet-stream",
	} {
		t.Run(name, func(t *testing.T) {
			next := make(chan string)
			r := newRig(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", contentType)
				_ = http.NewResponseController(w).Flush()
				for event := range next {
					_, _ = io.WriteString(w, event)
					_ = http.NewResponseController(w).Flush()
				}
			})
			conn := r.dial()
			defer func() { _ = conn.Close() }()
			_, _ = io.WriteString(conn, request("GET", "/shop/1.0.0/prod", r.addr, "X-API-Key: "+r.key))
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil) // the header is there before any event
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = resp.Body.Close() }()
			buf := make([]byte, 64)
			for _, event := range []string{"data: 1\n\n", "data: 2\n\n"} {
				next <- event // and the next one is sent only when this one has arrived
				if n, err := resp.Body.Read(buf); err != nil || string(buf[:n]) != event {
					t.Fatalf("read %q, %v; want %q", buf[:n], err, event)
				}
			}
			close(next)
			if rest, err := io.ReadAll(resp.Body); err != nil || len(rest) != 0 {
				t.Errorf("after the last event: %q, %v", rest, err)
			}
		})
	}
}

func TestStream_requestBody(t *testing.T) {
	pieces := make(chan string)
	r := newRig(t, func(_ http.ResponseWriter, req *http.Request) {
		buf := make([]byte, 64)
		for {
			n, err := req.Body.Read(buf)
			if n > 0 {
				pieces <- string(buf[:n])
			}
			if err != nil {
				return
			}
		}
	})
	conn := r.dial()
	defer func() { _ = conn.Close() }()
	_, _ = io.WriteString(
		conn, request("POST", "/shop/1.0.0/prod", r.addr, "X-API-Key: "+r.key, "Transfer-Encoding: chunked"),
	)
	for _, piece := range []string{"first", "second"} {
		_, _ = fmt.Fprintf(conn, "%x\r\n%s\r\n", len(piece), piece)
		if got := within(t, "a piece at the upstream", pieces); got != piece {
			t.Fatalf("the upstream read %q, want %q", got, piece)
		}
	}
	_, _ = io.WriteString(conn, "0\r\n\r\n")
	if got := r.readReply(bufio.NewReader(conn), "POST"); got.StatusCode != 200 {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
}

func TestExpectContinue_bodyWanted(t *testing.T) {
	r := newRig(t, nil)
	conn := r.dial()
	defer func() { _ = conn.Close() }()
	from := bufio.NewReader(conn)
	ask := func(key string) *http.Response {
		_, _ = io.WriteString(
			conn,
			request("POST", "/shop/1.0.0/prod", r.addr, "X-API-Key: "+key, "Content-Length: 5", "Expect: 100-continue"),
		)
		resp, err := http.ReadResponse(from, nil)
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	if resp := ask(r.key); resp.StatusCode != 100 {
		t.Fatalf("with a good key: %d, want 100 before the body", resp.StatusCode)
	}
	_, _ = io.WriteString(conn, "hello")
	if got := r.readReply(from, "POST"); got.StatusCode != 200 || r.lastCall().body != "hello" {
		t.Errorf("%d %s, the upstream got %q", got.StatusCode, got.body, r.lastCall().body)
	}
	if resp := ask("wrong"); resp.StatusCode != 401 {
		t.Errorf("with a wrong key: %d, want 401 and no 100", resp.StatusCode)
	}
}

func TestAnswer_earlyHints(t *testing.T) {
	r := newRig(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", "</style.css>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Del("Link")
		_, _ = io.WriteString(w, "page")
	})
	conn := r.dial()
	defer func() { _ = conn.Close() }()
	_, _ = io.WriteString(conn, request("GET", "/shop/1.0.0/prod", r.addr, "X-API-Key: "+r.key))
	from := bufio.NewReader(conn)
	if hint, err := http.ReadResponse(from, nil); err != nil || hint.StatusCode != 103 ||
		hint.Header.Get("Link") == "" {
		t.Fatalf("first answer %+v, %v; want 103 with its Link", hint, err)
	}
	if got := r.readReply(from, "GET"); got.StatusCode != 200 || got.body != "page" || got.Header.Get("Link") != "" {
		t.Errorf(
			"second answer %d %q %v; want the page without the hint's header", got.StatusCode, got.body,
			got.Header,
		)
	}
}

func TestCaller_disconnect(t *testing.T) {
	for name, lines := range map[string]string{"without a body": "", "after the body": "Content-Length: 2"} {
		t.Run(name, func(t *testing.T) {
			began, ended := make(chan struct{}), make(chan struct{})
			r := newRig(t, func(_ http.ResponseWriter, req *http.Request) {
				_, _ = io.Copy(io.Discard, req.Body)
				close(began)
				<-req.Context().Done()
				close(ended)
			})
			conn := r.dial()
			head := []string{"X-API-Key: " + r.key}
			body := ""
			if lines != "" {
				head, body = append(head, lines), "ok"
			}
			_, _ = io.WriteString(conn, request("POST", "/shop/1.0.0/prod", r.addr, head...)+body)
			within(t, "the upstream's call", began)
			_ = conn.Close()
			within(t, "the end of the upstream's call", ended)
		})
	}
}

// A kept-alive connection that the upstream has closed in the meantime is the usual
// reason for a proxy to try again; a call with a body may have been acted on.
func TestBody_notRetried(t *testing.T) {
	heads := make(chan string, 8)
	target := rawUpstream(t, func(conn net.Conn, from *bufio.Reader) {
		for n := 0; ; n++ {
			head, err := readHead(from)
			if err != nil {
				return
			}
			heads <- head
			if strings.HasPrefix(head, "POST") {
				return // it took the request and hung up without a response
			}
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nup")
		}
	})
	r := newRig(t, nil, withTarget(target))
	if got := r.get("/shop/1.0.0/prod"); got.StatusCode != 200 { // leaves a connection to be reused
		t.Fatalf("%d %s", got.StatusCode, got.body)
	}
	within(t, "the first request", heads)
	got := r.raw(
		request(
			"POST", "/shop/1.0.0/prod", r.addr, "X-API-Key: "+r.key, "Content-Length: 2",
			"Idempotency-Key: x",
		) + "ok",
	)
	r.wantCode("the upstream hung up", got, 502, "upstream_unreachable")
	within(t, "the second request", heads)
	select {
	case head := <-heads:
		t.Errorf("it was sent again:\n%s", head)
	default:
	}
}

func TestAnswer_withoutBody(t *testing.T) {
	r := newRig(t, func(w http.ResponseWriter, req *http.Request) {
		switch {
		case strings.HasSuffix(req.URL.Path, "/204"):
			w.WriteHeader(http.StatusNoContent)
		case strings.HasSuffix(req.URL.Path, "/304"):
			w.Header().Set("Etag", `"x"`)
			w.WriteHeader(http.StatusNotModified)
		default:
			w.Header().Set("Content-Length", "1234")
			w.Header().Set("Content-Type", "text/plain")
		}
	}, withMode(snapshot.Passthrough))
	conn := r.dial() // one connection: a body too many would spoil the response after it
	defer func() { _ = conn.Close() }()
	from := bufio.NewReader(conn)
	for _, tc := range []struct {
		method, path string
		status       int
		length       string
	}{
		{
			method: "HEAD",
			path:   "/200",
			status: 200,
			length: "1234",
		}, {method: "GET", path: "/204", status: 204}, {method: "GET", path: "/304", status: 304}, {
			method: "HEAD",
			path:   "/204",
			status: 204,
		}, {
			method: "HEAD",
			path:   "/200",
			status: 200,
			length: "1234",
		},
	} {
		_, _ = io.WriteString(conn, request(tc.method, "/shop/1.0.0/prod"+tc.path, r.addr))
		got := r.readReply(from, tc.method)
		if got.StatusCode != tc.status || got.body != "" || got.Header.Get("Content-Length") != tc.length {
			t.Errorf(
				"%s %s: %d %q, Content-Length %q", tc.method, tc.path, got.StatusCode, got.body,
				got.Header.Get("Content-Length"),
			)
		}
	}
	_, _ = io.WriteString(conn, request("HEAD", "/nowhere", r.addr))
	if got := r.readReply(from, "HEAD"); got.StatusCode != 404 || got.body != "" {
		t.Errorf("HEAD of nothing: %d %q", got.StatusCode, got.body)
	}
}

func TestAnswer_brokenOff(t *testing.T) {
	for name, answer := range map[string]string{
		"known length":   "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart",
		"unknown length": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			target := rawUpstream(t, func(conn net.Conn, from *bufio.Reader) {
				if _, err := readHead(from); err == nil {
					_, _ = io.WriteString(conn, answer)
				}
			})
			r := newRig(t, nil, withTarget(target))
			conn := r.dial()
			defer func() { _ = conn.Close() }()
			_, _ = io.WriteString(conn, request("GET", "/shop/1.0.0/prod", r.addr, "X-API-Key: "+r.key))
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				return // the connection ended before the response left: nothing to mistake
			}
			if body, err := io.ReadAll(resp.Body); err == nil {
				t.Errorf("the caller read %q as the whole answer", body)
			}
		})
	}
}

func TestAnswer_untilConnectionEnds(t *testing.T) {
	target := rawUpstream(t, func(conn net.Conn, from *bufio.Reader) {
		if _, err := readHead(from); err == nil {
			_, _ = io.WriteString(conn, "HTTP/1.0 200 OK\r\n\r\nold but whole")
		}
	})
	r := newRig(t, nil, withTarget(target))
	if got := r.get("/shop/1.0.0/prod"); got.body != "old but whole" {
		t.Errorf("%d %q", got.StatusCode, got.body)
	}
}

func TestHTTP10_served(t *testing.T) {
	r := newRig(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "part ")
		_ = http.NewResponseController(w).Flush()
		_, _ = io.WriteString(w, "by part")
	})
	got := r.raw("GET /shop/1.0.0/prod HTTP/1.0\r\nX-API-Key: " + r.key + "\r\n\r\n")
	if got.body != "part by part" || len(got.TransferEncoding) != 0 {
		t.Errorf("%d %q as %v", got.StatusCode, got.body, got.TransferEncoding)
	}
	if via := r.lastCall().header.Get("Via"); via != "1.0 postern" {
		t.Errorf("Via = %q, want the protocol it came in", via)
	}
}

func TestConnection_manyCalls(t *testing.T) {
	r := newRig(t, nil)
	conn := r.dial()
	defer func() { _ = conn.Close() }()
	from := bufio.NewReader(conn)
	good := request("POST", "/shop/1.0.0/prod", r.addr, "X-API-Key: "+r.key, "Content-Length: 2") + "ok"
	bad := request("POST", "/shop/1.0.0/prod", r.addr, "X-API-Key: x", "Content-Length: 2") + "ok"
	_, _ = io.WriteString(conn, good+bad+good) // pipelined
	for i, want := range []int{200, 401, 200} {
		if got := r.readReply(from, "POST"); got.StatusCode != want {
			t.Errorf("answer %d: %d %s, want %d", i, got.StatusCode, got.body, want)
		}
	}
}

// An upstream that answers before it has the whole body ends the call, and the
// connection of a caller who sends no more of it.
func TestAnswer_early(t *testing.T) {
	r := newRig(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	}, onNetHTTP)
	for _, framing := range []string{"Content-Length: 100", "Transfer-Encoding: chunked"} {
		conn := r.dial()
		head := request("POST", "/shop/1.0.0/prod", r.addr, "X-API-Key: "+r.key, framing)
		_, _ = io.WriteString(conn, head+"4\r\npart\r\n")
		from := bufio.NewReader(conn)
		if got := r.readReply(from, "POST"); got.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: %d %s", framing, got.StatusCode, got.body)
		}
		if n, err := from.Read(make([]byte, 1)); n != 0 || isTimeout(err) {
			t.Errorf("%s: the connection goes on: %d, %v", framing, n, err)
		}
		_ = conn.Close()
	}
}
