// Package scripted is an upstream that answers byte for byte as a script says:
// with interim answers, large heads, odd framing, surplus bytes, early, slowly,
// or not at all. A request whose path ends in /scripted/<name> gets that script;
// every other one gets a plain 200, or an echo after a WebSocket handshake.
//
// It owns the scripts and what the upstream received. It leaves what a gateway
// must make of them to the tests of gateways.
package scripted

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// Request is what the upstream received.
type Request struct {
	Method, Target, Host string
	Headers, Trailers    http.Header
	Body                 string
	Length               int64
	Encoding             []string
}

// Unreadable is the Method of bytes that are no request, which are its Body.
const Unreadable = "unreadable"

// Upstream serves scripts on loopback until the test ends.
type Upstream struct {
	URL  string // http or https://127.0.0.1:<port>
	Port int

	scripts map[string]Script

	mu       sync.Mutex
	received []Request
	conns    map[net.Conn]struct{}
	closed   bool
}

// Start starts an upstream. secure is nil for plain HTTP.
func Start(tb testing.TB, secure *tls.Config) *Upstream {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatalf("scripted: listen: %v", err)
	}
	u := &Upstream{Port: l.Addr().(*net.TCPAddr).Port, scripts: map[string]Script{}, conns: map[net.Conn]struct{}{}}
	for _, s := range Scripts() {
		u.scripts[s.Name] = s
	}
	scheme := "http"
	if secure != nil {
		l, scheme = tls.NewListener(l, secure), "https"
	}
	u.URL = fmt.Sprintf("%s://127.0.0.1:%d", scheme, u.Port)
	var running sync.WaitGroup
	running.Go(func() { u.accept(l, &running) })
	tb.Cleanup(func() {
		_ = l.Close()
		u.close()
		running.Wait()
	})
	return u
}

// Take returns the requests received since the last call.
func (u *Upstream) Take() []Request {
	u.mu.Lock()
	defer u.mu.Unlock()
	out := u.received
	u.received = nil
	return out
}

func (u *Upstream) accept(l net.Listener, running *sync.WaitGroup) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		if !u.track(conn) {
			_ = conn.Close()
			return
		}
		running.Go(func() {
			u.serve(conn)
			u.mu.Lock()
			delete(u.conns, conn)
			u.mu.Unlock()
			_ = conn.Close()
		})
	}
}

func (u *Upstream) track(conn net.Conn) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.closed {
		u.conns[conn] = struct{}{}
	}
	return !u.closed
}

func (u *Upstream) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.closed = true
	for conn := range u.conns {
		_ = conn.Close()
	}
}

func (u *Upstream) record(r Request) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.received = append(u.received, r)
}

// serve answers the requests of one connection.
func (u *Upstream) serve(conn net.Conn) {
	in := bufio.NewReaderSize(conn, 128<<10)
	for {
		if _, err := in.Peek(1); err != nil {
			return
		}
		added := !hasCacheControl(in)
		r, err := http.ReadRequest(in)
		if err != nil {
			rest := make([]byte, in.Buffered())
			_, _ = io.ReadFull(in, rest)
			u.record(Request{Method: Unreadable, Body: err.Error() + ": " + string(rest)})
			return
		}
		if added {
			r.Header.Del("Cache-Control")
		}
		if !u.answer(conn, in, r) || r.Close {
			return
		}
	}
}

// hasCacheControl reports whether the head that is read next has the field, which net/http adds to a request with
// Pragma alone.
func hasCacheControl(in *bufio.Reader) bool {
	for n := 1; ; n = in.Buffered() + 1 {
		_, err := in.Peek(n)
		read, _ := in.Peek(in.Buffered())
		head, _, whole := bytes.Cut(read, []byte("\r\n\r\n"))
		if whole || err != nil {
			return bytes.Contains(bytes.ToLower(head), []byte("\r\ncache-control:"))
		}
	}
}

// answer reports whether the connection can carry another request.
func (u *Upstream) answer(conn net.Conn, in io.Reader, r *http.Request) bool {
	script, ok := u.script(r)
	got := Request{
		Method:   r.Method,
		Target:   r.RequestURI,
		Host:     r.Host,
		Headers:  r.Header,
		Length:   r.ContentLength,
		Encoding: r.TransferEncoding,
	}
	if ok && script.Early {
		u.record(got)
		again := script.play(conn, r.Method)
		_, err := io.Copy(io.Discard, r.Body)
		return again && err == nil
	}
	body, err := io.ReadAll(r.Body)
	if got.Body, got.Trailers = string(body), r.Trailer; err != nil {
		got.Method = Unreadable
	}
	u.record(got)
	switch {
	case err != nil:
		return false
	case ok:
		return script.play(conn, r.Method)
	case strings.EqualFold(r.Header.Get("Upgrade"), "websocket"):
		_, _ = io.WriteString(conn, switched)
		_, _ = io.Copy(conn, in)
		return false
	}
	return usual(r).play(conn, r.Method)
}

const switched = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"

func (u *Upstream) script(r *http.Request) (Script, bool) {
	path, _, _ := strings.Cut(r.RequestURI, "?")
	_, name, found := strings.Cut(path, Path)
	script, known := u.scripts[name]
	return script, found && known
}

// Path stands before the name of a script in the path of a request.
const Path = "/scripted/"

// usual is the answer to requests that name no script. With X-Tell: limits, it claims its own limits.
func usual(r *http.Request) Script {
	head := "HTTP/1.1 200 OK\nContent-Type: application/json\nX-From: upstream"
	if r.Header.Get("X-Tell") == "limits" {
		head += "\nRateLimit-Limit: 7\nX-RateLimit-Remaining-Second: 7\nX-RateLimit-Remaining-Second: 8"
	}
	return sized(Script{Head: head, Body: []string{`{"answer":"of the upstream"}`}})
}

// pause is between the pieces of an answer: long enough to arrive apart.
const pause = 30 * time.Millisecond

// play writes the answer and reports whether the connection can carry another
// request.
func (s Script) play(conn net.Conn, method string) bool {
	pieces := append([]string(nil), s.Interim...)
	body := s.Body
	if method == http.MethodHead && !s.BodyToHead {
		body = nil
	}
	if s.Head != "" {
		head := s.Head + "\n\n"
		if !s.BareLF {
			head = strings.ReplaceAll(head, "\n", "\r\n")
		}
		if len(body) > 0 {
			head, body = head+body[0], body[1:]
		}
		if s.SlowHead {
			half := len(head) / 2
			pieces = append(pieces, head[:half])
			head = head[half:]
		}
		pieces = append(pieces, head)
	}
	for i, piece := range append(pieces, body...) {
		if i > 0 {
			time.Sleep(pause)
		}
		if _, err := io.WriteString(conn, piece); err != nil {
			return false
		}
	}
	// The answer to HEAD is whole: a connection that ended behind it unannounced would
	// be found ended by the next request, or not, by chance.
	return !s.Ends || method == http.MethodHead && s.Head != "" && !s.BodyToHead
}
