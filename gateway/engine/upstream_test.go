package engine

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"postern/testkit"
)

// A call that may not be sent twice is sent on another connection when the one that
// waited was reset, because nothing of it has left.
func TestPool_resetConnection(t *testing.T) {
	for _, method := range []string{"GET", "POST"} {
		reset := make(chan struct{})
		up, newest := upstreamOf(t, func(n int, conn net.Conn, from *bufio.Reader) {
			if _, err := http.ReadRequest(from); err != nil {
				return
			}
			_, _ = io.WriteString(conn, anAnswer)
			if n == 0 {
				<-reset
				_ = conn.(*net.TCPConn).SetLinger(0)
				_ = conn.Close()
				reset <- struct{}{}
			}
		})
		_, addr := start(t, forwarding(up, func() {}), nil)
		conn := dial(t, addr)
		from := bufio.NewReader(conn)
		for call := range 2 {
			_, _ = io.WriteString(conn, method+" / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nin")
			resp, err := http.ReadResponse(from, nil)
			if err != nil {
				t.Fatal(err)
			}
			if body, _ := io.ReadAll(resp.Body); resp.StatusCode != 200 {
				t.Errorf("%s, call %d: %d %s", method, call+1, resp.StatusCode, body)
			}
			if call == 0 {
				reset <- struct{}{}
				<-reset
				waitUntilEnded(t, newest.Load())
			}
		}
	}
}

// waitUntilEnded waits until the end of a connection that carries nothing else has crossed loopback.
func waitUntilEnded(t *testing.T, conn *net.TCPConn) {
	t.Helper()
	raw, err := conn.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the end of the connection", func() (ended bool) {
		err := raw.Control(func(fd uintptr) {
			n, _ := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
			ended = n == 1
		})
		return ended || err != nil // an error: the gateway has noticed it and closed its end
	})
}

// upstreamOf serves one connection after the other. newest is the gateway's end of the last one.
func upstreamOf(
	t *testing.T, serve func(n int, conn net.Conn, from *bufio.Reader),
) (up *Upstream, newest *atomic.Pointer[net.TCPConn]) {
	t.Helper()
	newest = &atomic.Pointer[net.TCPConn]{}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for n := 0; ; n++ {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go serve(n, conn, bufio.NewReader(conn))
		}
	}()
	up = NewBudget(64).NewPool().NewUpstream(func(context.Context) (net.Conn, error) {
		conn, err := net.Dial("tcp", l.Addr().String())
		if err == nil {
			newest.Store(conn.(*net.TCPConn))
		}
		return conn, err
	}, patient)
	t.Cleanup(up.Close)
	return up, newest
}

func forwarding(up *Upstream, before func()) answering {
	return func(x *Exchange) bool {
		before()
		if _, err := x.Forward(&sendings{up: up, max: 1}, copying{x}); err != nil {
			x.Answer(502, nil, []byte(err.Error()))
		}
		return true
	}
}

const anAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nup"

// The time of the decision doesn't count against the upstream.
func TestPool_upstreamTime(t *testing.T) {
	up, _ := upstreamOf(t, func(_ int, conn net.Conn, from *bufio.Reader) {
		for {
			if _, err := http.ReadRequest(from); err != nil {
				return
			}
			_, _ = io.WriteString(conn, anAnswer)
		}
	})
	const limit = 2 * time.Second // room for the upstream to answer on a busy machine
	up.timeouts.Response, up.timeouts.Idle = limit, limit
	_, addr := start(t, forwarding(up, func() { <-time.After(limit + limit/4) }), nil)
	conn := dial(t, addr)
	from := bufio.NewReader(conn)
	for call := range 3 {
		_, _ = io.WriteString(conn, plainRequest)
		resp, err := http.ReadResponse(from, nil)
		if err != nil {
			t.Fatal(err)
		}
		if body, _ := io.ReadAll(resp.Body); resp.StatusCode != 200 {
			t.Errorf("call %d: %d %s", call+1, resp.StatusCode, body)
		}
	}
}

// A call is sent again on a new connection, also where the one that ended was made for it.
func TestPool_sentAgain(t *testing.T) {
	var seen atomic.Int32
	closed := make(chan struct{})
	up, newest := upstreamOf(t, func(n int, conn net.Conn, from *bufio.Reader) {
		defer func() { _ = conn.Close() }()
		if _, err := http.ReadRequest(from); err != nil {
			return
		}
		if seen.Add(1); n == 0 {
			_, _ = io.WriteString(conn, anAnswer)
			_ = conn.Close()
			close(closed)
		}
	})
	_, addr := start(t, forwarding(up, func() {}), nil)
	conn := dial(t, addr)
	from := bufio.NewReader(conn)
	for call, want := range []int{200, 502} {
		_, _ = io.WriteString(conn, plainRequest)
		resp, err := http.ReadResponse(from, nil)
		if err != nil {
			t.Fatal(err)
		}
		if body, _ := io.ReadAll(resp.Body); resp.StatusCode != want {
			t.Errorf("%d %s, want %d", resp.StatusCode, body, want)
		}
		<-closed
		waitUntilEnded(t, newest.Load())
		if n := seen.Load(); n != []int32{1, 3}[call] {
			t.Errorf("the upstream got %d requests for %d calls", n, call+1)
		}
	}
}

// copying rewrites nothing.
type copying struct{ x *Exchange }

func (c copying) RequestHead(dst []byte) []byte {
	return append(dst, c.x.Request.Method+" "+c.x.Request.Target+" HTTP/1.1\r\nHost: up\r\n"...)
}

func (c copying) ResponseHead(dst []byte, r *Response) []byte {
	for _, f := range r.Fields {
		dst = AppendField(dst, strings.Clone(f.Name), f.Value)
	}
	return dst
}

func (c copying) MayTrail(string) bool { return false }

func (c copying) KeepBody(int64) bool { return true }

// An upstream that answers without reading the body, and stops reading, may take the next
// request for the rest of that body.
func TestPool_halfSentRequest(t *testing.T) {
	small := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		return raw.Control(
			func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 2<<10) },
		)
	}}
	l, err := small.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	over := make(chan struct{})
	defer close(over)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				if _, err := http.ReadRequest(bufio.NewReaderSize(conn, 16)); err == nil {
					_, _ = io.WriteString(conn, anAnswer)
				}
				<-over
			}()
		}
	}()
	var connects atomic.Int32
	timeouts := patient
	timeouts.Idle = time.Second
	up := NewBudget(64).NewPool().NewUpstream(func(ctx context.Context) (net.Conn, error) {
		connects.Add(1)
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", l.Addr().String())
		if err != nil {
			return nil, err
		}
		return conn, conn.(*net.TCPConn).SetWriteBuffer(2 << 10)
	}, timeouts)
	defer up.Close()
	_, addr := start(t, forwarding(up, func() {}), nil)
	conn := dial(t, addr)
	from := bufio.NewReader(conn)
	const size = smallBox - 1<<10 // with its head it is written in one piece
	for call := range int32(2) {
		_, _ = fmt.Fprintf(
			conn,
			"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s",
			size,
			strings.Repeat("b", size),
		)
		wantAnswer(t, from, "up")
		if n := connects.Load(); n != call+1 {
			t.Errorf("%d connections after %d calls", n, call+1)
		}
	}
}
