// Package h2 serves connections of HTTP/2 (RFC 9113) with one goroutine that reads each connection and reused
// goroutines that call an http.Handler and write its responses. It owns frames, flow control, header compression (RFC
// 7541), which requests are well-formed (section 8), the limits on callers that waste the server's time, and the
// graceful end of connections. It leaves TLS, ALPN and the acceptance of connections to its caller, and what a request
// means to the handler. Server push, priorities and extended CONNECT are not supported.
package h2

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"
)

// Limits bound a connection. Every field must be set.
type Limits struct {
	Streams     int           // concurrent calls of a connection, including those that the caller has reset
	HeaderBytes int           // of a request's header or trailers, by the count of RFC 9113 section 10.5.1
	Header      time.Duration // for a caller to send its preface, and a frame or a header that it has begun
	Idle        time.Duration // between the end of the last call and the next one
	Write       time.Duration // for a caller to read (engine.Pace), or to open its window
}

// Server serves connections. Its fields are set before Serve.
type Server struct {
	Handler     http.Handler
	Limits      Limits
	ConnContext func(context.Context, net.Conn) context.Context // of a connection's requests; may be nil
	Recovered   func(fault any, stack []byte)                   // called for panics of the handler; may be nil

	workers workers

	mu      sync.Mutex
	conns   map[*conn]struct{}
	closing bool
	ended   chan struct{} // closed when the last connection has ended after closing was set
}

// Serve begins to serve a connection whose TLS handshake is done, and returns. After Shutdown and Close it closes the
// connection.
func (s *Server) Serve(nc net.Conn) {
	c := newConn(s, nc)
	s.mu.Lock()
	if s.closing {
		s.mu.Unlock()
		_ = cut(nc)
		return
	}
	if s.conns == nil {
		s.conns = map[*conn]struct{}{}
	}
	s.conns[c] = struct{}{}
	s.mu.Unlock()
	go c.serve()
}

// remove forgets a connection that has ended.
func (s *Server) remove(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	if s.closing && len(s.conns) == 0 {
		close(s.ended)
	}
}

// stop refuses new connections. It returns the open ones, and a channel that is closed when they have ended.
func (s *Server) stop() ([]*conn, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closing {
		s.closing, s.ended = true, make(chan struct{})
		if len(s.conns) == 0 {
			close(s.ended)
		}
	}
	open := make([]*conn, 0, len(s.conns))
	for c := range s.conns {
		open = append(open, c)
	}
	return open, s.ended
}

// Shutdown tells callers to send no more requests on their connections, and waits for the calls that are running.
func (s *Server) Shutdown(ctx context.Context) error {
	open, ended := s.stop()
	for _, c := range open {
		c.goAway()
	}
	defer s.workers.close()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close ends every connection and its calls.
func (s *Server) Close() error {
	open, _ := s.stop()
	for _, c := range open {
		c.kill()
	}
	s.workers.close()
	return nil
}

// cut closes a connection at its socket. Close of a TLS connection first writes an alert, and waits for that up to 5 s
// if the other side does not read.
func cut(c net.Conn) error {
	for {
		over, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			return c.Close() //nolint:wrapcheck // nothing to add
		}
		c = over.NetConn()
	}
}

// stateOf returns the state of a TLS connection, nil for others.
func stateOf(c net.Conn) *tls.ConnectionState {
	over, ok := c.(interface{ ConnectionState() tls.ConnectionState })
	if !ok {
		return nil
	}
	state := over.ConnectionState()
	return &state
}
