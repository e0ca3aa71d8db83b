// Package engine is the fast path of the gateway: it carries plain HTTP/1.1
// requests between callers and upstreams with one goroutine for each connection,
// pooled buffers and no map of headers, and hands everything that is not plain,
// with the bytes already read, to a server that knows the rest of HTTP.
//
// It owns the bytes: which requests are plain (request.go, the one place that
// decides it), the framing of answers, upstream connections and their reuse (for
// the fallback's calls too: RoundTrip), deadlines, and noticing that a caller has
// left. It does not own what a request means: a Session decides whether a request is
// answered, forwarded, or left to the fallback, and which header either side gets.
//
// Standards: RFC 9112 (HTTP/1.1 messages), RFC 9110 section 7.6 (what a proxy
// does with them).
package engine

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// HTTP2 is the protocol of ALPN that the engine leaves to the fallback, which then
// accepts a *tls.Conn (RFC 9113 section 3.2).
const HTTP2 = "h2"

// Session decides for the requests of one connection, one after the other.
type Session interface {
	// Serve takes one request to its end by calling Answer or Forward of the
	// exchange. It returns false, without having called either, for a request
	// that the fallback is to serve. The exchange is not used after it returns.
	Serve(x *Exchange) bool
	// Stands reports whether the request that is being forwarded may go on. Another
	// goroutine than Serve's asks, now and then, while a call lasts longer than a
	// moment; Forward returns only after the answer. The call is cut off at the
	// first false, and its Forward fails with ErrCaller.
	Stands() bool
	// End is called once, when the connection has ended or was handed over.
	End()
}

// Limits bound a connection. Every field but BodyRate and BodyGrace must be set.
type Limits struct {
	FirstHeader   time.Duration // for a caller to send a request's head
	CallerIdle    time.Duration // between two requests
	Idle          time.Duration // between two pieces of a body, on either side
	Header        time.Duration // from the request sent to the answer's head received
	Connect       time.Duration // to the upstream, in all
	ResponseBytes int           // of an answer's head; 64 KiB is the most that is held

	// BodyRate is how many bytes a second a request's body has to come with, once it
	// has been waited for longer than BodyGrace. 0: any number.
	BodyRate  int64
	BodyGrace time.Duration
}

// BodyWait is how long the next piece of a request's body may take, when so many bytes
// have come and the caller has been waited for so long. The time that the upstream takes
// to accept a piece does not count against the caller.
func (l *Limits) BodyWait(got int64, waited time.Duration) time.Duration {
	if l.BodyRate == 0 {
		return l.Idle
	}
	earned := min(got/l.BodyRate, int64(365*24*time.Hour/time.Second))
	allowed := l.BodyGrace + time.Duration(earned)*time.Second
	return min(l.Idle, max(allowed-waited, time.Nanosecond))
}

// Server serves callers' connections. Its fields are set before Serve.
type Server struct {
	NewSession func(net.Conn) Session
	Secure     *tls.Config // callers speak TLS; nil: they do not
	Fallback   *Handover   // gets the connections with a request that is not plain, and those of HTTP/2
	Limits     Limits
	Recovered  func(fault any, stack []byte) // told of panics in sessions; nil: nobody is

	mu       sync.Mutex
	listener net.Listener
	conns    map[*conn]struct{}
	closing  atomic.Bool
	swept    chan struct{} // closed to end the sweep
	idle     sync.Cond     // of mu: a connection has ended
}

// Serve accepts connections until Shutdown or Close; its error then is
// http.ErrServerClosed.
func (s *Server) Serve(l net.Listener) error {
	if !s.begin(l) {
		_ = l.Close()
		return http.ErrServerClosed
	}
	go s.sweep()
	for pause := time.Duration(0); ; {
		raw, err := l.Accept()
		switch {
		case err == nil:
			pause = 0
			s.start(raw)
		case s.closing.Load():
			return http.ErrServerClosed
		case isTemporary(err):
			// Out of descriptors, most likely: connections that end give some back.
			pause = min(max(2*pause, 5*time.Millisecond), time.Second)
			time.Sleep(pause)
		default:
			_ = s.Close()
			return err
		}
	}
}

func (s *Server) begin(l net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Load() {
		return false
	}
	s.listener, s.conns, s.swept = l, map[*conn]struct{}{}, make(chan struct{})
	s.idle.L = &s.mu
	return true
}

func (s *Server) start(raw net.Conn) {
	if s.Secure != nil {
		raw = tls.Server(raw, s.Secure)
	}
	s.mu.Lock()
	if s.closing.Load() {
		s.mu.Unlock()
		_ = raw.Close()
		return
	}
	c := newConn(s, raw) // a session begins only where Shutdown waits for its end
	s.conns[c] = struct{}{}
	s.mu.Unlock()
	go c.serve()
}

// ended forgets a connection that was closed or handed over.
func (s *Server) ended(c *conn) {
	s.mu.Lock()
	delete(s.conns, c)
	s.idle.Broadcast()
	s.mu.Unlock()
}

// stop ends accepting, and returns false when there is nothing to end.
func (s *Server) stop() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Swap(true) || s.listener == nil {
		return s.listener != nil
	}
	_ = s.listener.Close()
	close(s.swept)
	return true
}

// Shutdown stops accepting, closes connections that wait for a request, and
// waits for the calls of the others. Connections that were handed over are the
// fallback's to end.
func (s *Server) Shutdown(ctx context.Context) error {
	if !s.stop() {
		return nil
	}
	defer context.AfterFunc(ctx, func() {
		s.mu.Lock()
		s.idle.Broadcast()
		s.mu.Unlock()
	})()
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.endIfIdle()
	}
	for len(s.conns) > 0 && ctx.Err() == nil {
		s.idle.Wait()
	}
	return ctx.Err()
}

// Close cuts every connection.
func (s *Server) Close() error {
	if !s.stop() {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.cut()
	}
	return nil
}

// candidates is how many connections EndIdle chooses among.
const candidates = 16

// EndIdle ends a connection that waits for a request, where it finds one: of a few
// taken at random, the one that has waited longest.
func (s *Server) EndIdle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	var oldest *conn
	most, seen := -1, 0
	for c := range s.conns {
		if looks, waits := c.hasWaited(); waits && looks > most {
			oldest, most = c, looks
		}
		if seen++; seen == candidates {
			break
		}
	}
	if oldest != nil {
		oldest.endIfIdle()
	}
}

// sweepEvery is how long a caller's leaving may go unnoticed, about. A reader
// in the background of every call would notice at once and cost a fifth of the
// throughput.
const sweepEvery = 250 * time.Millisecond

// sweep looks at the callers whose calls take longer than a moment, and gives
// up the calls of those who have left.
func (s *Server) sweep() {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		select {
		case <-s.swept:
			return
		case <-ticker.C:
		}
		s.mu.Lock()
		for c := range s.conns {
			c.watch()
		}
		s.mu.Unlock()
	}
}

func isTemporary(err error) bool {
	temporary, ok := errors.AsType[interface {
		error
		Temporary() bool
	}](err)
	return ok && temporary.Temporary()
}
