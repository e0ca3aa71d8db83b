package engine

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"postern/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait of a test; it is reached only when the test fails.
const patience = time.Minute

// answering is a session that answers by a function.
type answering func(*Exchange) bool

func (a answering) Serve(x *Exchange) bool { return a(x) }
func (answering) MayContinue() bool        { return true }
func (answering) End()                     {}

func ok(x *Exchange) bool { x.Answer(200, nil, []byte("ok")); return true }

// start serves on its own socket until the test is over.
func start(t *testing.T, session Session, edit func(*Server)) (*Server, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{
		NewSession: func(net.Conn) Session { return session }, Fallback: NewHandover(l.Addr()),
		Limits: Limits{
			FirstHeader:   patience,
			CallerIdle:    patience,
			Idle:          patience,
			ResponseBytes: 64 << 10,
		},
	}
	if edit != nil {
		edit(s)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		_ = s.Close()
		_ = s.Fallback.Close()
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("Serve: %v", err)
		}
	})
	return s, l.Addr().String()
}

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	_ = c.SetDeadline(time.Now().Add(patience))
	t.Cleanup(func() { _ = c.Close() })
	return c
}

const plainRequest = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

func wantAnswer(t *testing.T, from *bufio.Reader, want string) {
	t.Helper()
	resp, err := http.ReadResponse(from, nil)
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(resp.Body); err != nil || string(body) != want {
		t.Fatalf("%q, %v; want %q", body, err, want)
	}
}

// Thousands of connections wait at once: none of them may hold a buffer.
func TestServe_idleBuffers(t *testing.T) {
	const connections = 400
	_, addr := start(t, answering(ok), nil)
	answer := make([]byte, 512)
	heap := func() uint64 {
		runtime.GC()
		runtime.GC() // what is pooled goes with the second one
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	for range connections {
		c := dial(t, addr)
		_, _ = io.WriteString(c, plainRequest)
		if n, err := c.Read(answer); err != nil || !strings.HasSuffix(string(answer[:n]), "ok") {
			t.Fatalf("%q, %v", answer[:n], err)
		}
	}
	// The callers' ends are in the same heap and part of the figure.
	testkit.Eventually(t, "the return of all buffers", func() bool {
		return heap() < before+connections*smallBox/4
	})
}

// A caller that sends its last request and closes at once leaves no connection open: the
// end arrives together with the bytes, and is not reported again.
func TestServe_endWithRequest(t *testing.T) {
	s, addr := start(t, answering(ok), nil)
	for range 50 {
		c := dial(t, addr)
		_, _ = io.WriteString(c, plainRequest)
		_ = c.(*net.TCPConn).CloseWrite()
		wantAnswer(t, bufio.NewReader(c), "ok")
	}
	testkit.Eventually(t, "the end of all connections", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.conns) == 0
	})
}

func TestServe_slowHeads(t *testing.T) {
	_, addr := start(
		t, answering(ok),
		func(s *Server) { s.Limits.FirstHeader, s.Limits.CallerIdle = 50*time.Millisecond, 50*time.Millisecond },
	)
	for _, part := range []string{"", "G", "GET / HTTP/1.1\r\nHost: a\r\n", plainRequest} {
		c := dial(t, addr)
		_, _ = io.WriteString(c, part)
		if _, err := io.ReadAll(c); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%q: %v, want the end of the connection", part, err)
		}
	}
}

// The fallback gets the connection from the first unanswered byte on.
func TestHandover_unansweredBytes(t *testing.T) {
	declines := answering(func(x *Exchange) bool { return x.Request.Target != "/no" && ok(x) })
	s, addr := start(t, declines, nil)
	for _, rest := range []string{
		"GET / HTTP/1.0\r\n\r\n", "GET /no HTTP/1.1\r\nHost: a\r\n\r\nmore",
		"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"X\n", "GET / HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("x", 2*smallBox),
	} {
		c := dial(t, addr)
		_, _ = io.WriteString(c, plainRequest+rest)
		wantAnswer(t, bufio.NewReader(c), "ok")
		given, err := s.Fallback.Accept()
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(rest))
		if _, err := io.ReadFull(given, got); err != nil || string(got) != rest {
			t.Errorf("the fallback read %.60q, %v; want %.60q", got, err, rest)
		}
		_ = given.Close()
	}
}

func TestServe_panic(t *testing.T) {
	told := make(chan any, 1)
	_, addr := start(t, answering(func(x *Exchange) bool {
		if x.Request.Target == "/fault" {
			panic("fault")
		}
		return ok(x)
	}), func(s *Server) { s.Recovered = func(fault any, _ []byte) { told <- fault } })
	other := dial(t, addr)
	c := dial(t, addr)
	_, _ = io.WriteString(c, "GET /fault HTTP/1.1\r\nHost: a\r\n\r\n")
	if got, err := io.ReadAll(c); len(got) != 0 || err != nil {
		t.Errorf("%q, %v; want the end of the connection", got, err)
	}
	if fault := <-told; fault != "fault" {
		t.Errorf("told of %v", fault)
	}
	_, _ = io.WriteString(other, plainRequest)
	wantAnswer(t, bufio.NewReader(other), "ok")
}
