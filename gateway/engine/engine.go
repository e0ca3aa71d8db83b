// Package engine is the gateway's fast path for plain HTTP/1.1 requests: one goroutine per connection, pooled buffers
// and no map of headers. It decides which requests are plain (request.go), and owns the framing of responses, upstream
// connections and their reuse (for net/http's calls too: RoundTrip), deadlines, and the detection of callers that have
// left. It leaves routing, access and headers to a Session, and requests that aren't plain to a fallback server, which
// gets the bytes that were already read. Standards: RFC 9112 (HTTP/1.1 messages), RFC 9110 section 7.6 (proxies).
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

// HTTP2 is the name of HTTP/2 in ALPN (RFC 9113 section 3.2). The engine leaves it to ServeHTTP2.
const HTTP2 = "h2"

// HTTP1 is the name of HTTP/1.1 in ALPN.
const HTTP1 = "http/1.1"

// Session serves the requests of one connection, one after the other.
type Session interface {
	// Serve serves one request by calling Answer or Forward of the exchange. To leave the request to the fallback, it
	// returns false without calling either. It must not retain the exchange.
	Serve(x *Exchange) bool
	// MayContinue reports whether the forwarded request may continue. It is called from another goroutine, about twice
	// a second, and Forward does not return while it runs. If it returns false, the call is cut off and Forward fails
	// with ErrCaller.
	MayContinue() bool
	// End is called once, when the connection has ended or was handed over.
	End()
}

// Limits bound a connection. Every field except BodyRate and BodyGrace must be set.
type Limits struct {
	FirstHeader   time.Duration // for a caller to send the head of a request
	CallerIdle    time.Duration // between two requests
	Idle          time.Duration // between two reads or writes of a body, on the caller's side
	ResponseBytes int           // of a response's head; at most 64 KiB

	// BodyRate is the minimum rate of a request's body in bytes per second, after the gateway has waited for the caller
	// for longer than BodyGrace. 0: no minimum.
	BodyRate  int64
	BodyGrace time.Duration
}

// BodyWait returns how long the next read of a request's body may take, after got bytes were received in the given
// total time of waiting for the caller. The time that the upstream takes to accept bytes doesn't count.
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
	Secure     *tls.Config    // of callers; nil: no TLS
	Fallback   *Handover      // gets connections with a request that is not plain
	ServeHTTP2 func(net.Conn) // gets connections that speak HTTP/2; must not block

	// PlainHTTP2 also accepts HTTP/2 without TLS from callers that begin with it (prior knowledge, RFC 9113 section
	// 3.3).
	PlainHTTP2 bool

	Limits    Limits
	Recovered func(fault any, stack []byte) // called for panics in sessions; may be nil

	mu       sync.Mutex
	listener net.Listener
	conns    map[*conn]struct{}
	closing  atomic.Bool
	swept    chan struct{} // closed to end the sweep
	idle     sync.Cond     // of mu: a connection has ended
}

// Serve accepts connections until Shutdown or Close, and then returns http.ErrServerClosed.
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
			return s.stopped()
		case isTemporary(err):
			// Most likely out of descriptors, until connections end.
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
	c := newConn(s, raw) // under mu, so that Shutdown waits for the end of every session
	s.conns[c] = struct{}{}
	s.mu.Unlock()
	go c.serve()
}

// ended removes a connection that was closed or handed over.
func (s *Server) ended(c *conn) {
	s.mu.Lock()
	delete(s.conns, c)
	s.idle.Broadcast()
	s.mu.Unlock()
}

// stop stops accepting. It returns false if Serve was never called.
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

// stopped returns http.ErrServerClosed once stop is done: Accept fails a moment before the
// kernel closes the listening socket, and stop holds mu until then.
func (s *Server) stopped() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return http.ErrServerClosed
}

// Shutdown stops accepting, closes connections that wait for a request, and waits for the calls of the others. It
// doesn't affect connections that were handed over.
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

// Close ends every connection.
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

// EndIdle closes a connection that waits for a request, if it finds one: the longest waiting of a random few.
func (s *Server) EndIdle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	var oldest *conn
	most, seen := -1, 0
	for c := range s.conns {
		if sweeps, waits := c.hasWaited(); waits && sweeps > most {
			oldest, most = c, sweeps
		}
		if seen++; seen == candidates {
			break
		}
	}
	if oldest != nil {
		oldest.endIfIdle()
	}
}

// sweepEvery is about how long it takes to notice that a caller has left. A background read
// during every call would notice at once, and cost a fifth of the throughput.
const sweepEvery = 250 * time.Millisecond

// sweep watches the connections until stop: see conn.watch.
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
