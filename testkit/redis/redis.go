// Package redis runs a real Redis server for a test.
//
// It owns the server's process, on a port of its own and without a file; it does
// not own what is kept there.
package redis

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"

	"postern/testkit"
)

// Server is a running Redis.
type Server struct {
	t       testing.TB
	port    int
	process *exec.Cmd
}

// Start runs a server until the test ends.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{t: t, port: freePort(t)}
	s.Up()
	t.Cleanup(s.Down)
	return s
}

// URL is where the server answers.
func (s *Server) URL() string { return fmt.Sprintf("redis://127.0.0.1:%d/0", s.port) }

// Up starts the server, empty, where it was before.
func (s *Server) Up() {
	s.t.Helper()
	s.process = exec.Command(
		"redis-server", "--port", fmt.Sprint(s.port), "--bind", "127.0.0.1", "--save", "", "--appendonly",
		"no", "--dir", s.t.TempDir(),
	)
	if err := s.process.Start(); err != nil {
		s.t.Fatalf("start redis-server (Debian: redis-server): %v", err)
	}
	testkit.Eventually(s.t, "an answer of redis-server", s.answers)
}

// Down ends the server as a crash would.
func (s *Server) Down() {
	if s.process == nil {
		return
	}
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
	s.process = nil
}

func (s *Server) answers() bool {
	ctx, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", s.port))
	if err != nil {
		return false
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		return false
	}
	reply := make([]byte, 16)
	n, _ := conn.Read(reply)
	return strings.HasPrefix(string(reply[:n]), "+PONG")
}

func freePort(t testing.TB) int {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
