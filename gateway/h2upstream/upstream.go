// Package h2upstream forwards calls to upstreams over HTTP/2 (RFC 9113). It owns the connections to an upstream, their
// reuse, and how long an upstream may be silent. It leaves frames, flow control and header compression to net/http's
// client, and dialing to its caller. Interim responses (1xx) aren't passed on: a caller that doesn't read one would
// hold up all calls of the connection.
package h2upstream

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http2"

	"postern/gateway/engine"
)

// Dial connects to an upstream, with TLS if the target is https, and offers h2 by ALPN then. Its context ends at the
// timeout for connecting, or when the caller leaves.
type Dial func(context.Context) (net.Conn, error)

// Upstream is an address that calls of one project are forwarded to, with its connections. It is safe for concurrent
// use.
type Upstream struct {
	transport *http.Transport // creates connections, and keeps none itself
	scheme    string
	timeouts  engine.Timeouts
	orHTTP1   bool          // calls can use HTTP/1.1 if the upstream chooses that
	dialing   chan struct{} // held by the call that connects, so that a burst of calls shares its connection

	mu         sync.Mutex
	conns      []*conn // that get calls; the newest is last
	reaper     *time.Timer
	closed     bool
	http1Until time.Time // the upstream chose HTTP/1.1; HTTP/2 isn't tried again until then
}

// conn is a connection that carries many calls.
type conn struct {
	*http.ClientConn
	born  time.Time
	used  time.Time // when a call last began or ended; guarded by Upstream.mu
	share func()    // lets other calls use the connection; may be called more than once
}

const (
	// maxAge is the age at which a connection gets no more calls, so that a change of the upstream's addresses in DNS
	// is followed.
	maxAge = 60 * time.Second

	// settling is how long a new connection carries one call, unless that gets its response before. By then, the
	// upstream has said how many streams it allows (RFC 9113 section 6.5.2); calls over that number would wait for the
	// end of others.
	settling = 250 * time.Millisecond

	// askAgain is how long an upstream that chose HTTP/1.1 isn't offered HTTP/2.
	askAgain = 60 * time.Second
)

// Options are the options of an upstream. Every field but OrHTTP1 must be set.
type Options struct {
	Scheme        string // http (with prior knowledge, RFC 9113 section 3.3) or https
	Dial          Dial
	OrHTTP1       bool // the dial offers HTTP/1.1 too, and calls can use that
	Timeouts      engine.Timeouts
	ResponseBytes int // most bytes of a response's header
}

// New returns an upstream without connections.
func New(o Options) *Upstream {
	var protocols http.Protocols
	protocols.SetHTTP2(o.Scheme == "https")
	protocols.SetUnencryptedHTTP2(o.Scheme == "http")
	connect := func(ctx context.Context, _, _ string) (net.Conn, error) {
		opened, err := o.Dial(ctx)
		if err != nil {
			return nil, err
		}
		secured, ok := opened.(*tls.Conn)
		if ok && secured.ConnectionState().NegotiatedProtocol != engine.HTTP2 {
			_ = opened.Close()
			return nil, engine.ErrHTTP1
		}
		return opened, nil
	}
	return &Upstream{
		transport: &http.Transport{
			Protocols:              &protocols,
			DialContext:            connect,
			DialTLSContext:         connect,
			DisableCompression:     true,
			MaxResponseHeaderBytes: int64(o.ResponseBytes),
		},
		scheme:   o.Scheme,
		timeouts: o.Timeouts,
		orHTTP1:  o.OrHTTP1,
		dialing:  make(chan struct{}, 1),
	}
}

// take returns a connection with room for a call, and whether it carried calls before.
func (u *Upstream) take(ctx context.Context) (c *conn, reused bool, err error) {
	if c := u.reserve(time.Now()); c != nil {
		return c, true, nil
	}
	select {
	case u.dialing <- struct{}{}:
	case <-ctx.Done():
		return nil, false, ctx.Err()
	}
	if c := u.reserve(time.Now()); c != nil {
		<-u.dialing
		return c, true, nil
	}
	if c, err = u.connect(ctx); err != nil {
		<-u.dialing
		return nil, false, err
	}
	c.share = sync.OnceFunc(func() {
		u.add(c)
		<-u.dialing
	})
	time.AfterFunc(settling, c.share)
	return c, false, nil
}

// add lets calls use a connection.
func (u *Upstream) add(c *conn) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.conns = append(u.conns, c); u.closed {
		u.retire(time.Now())
	}
}

// reserve returns a connection that may be used now, with a reserved stream; nil if there is none.
func (u *Upstream) reserve(now time.Time) *conn {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.retire(now)
	for i := len(u.conns) - 1; i >= 0; i-- {
		if c := u.conns[i]; c.Reserve() == nil {
			c.used = now
			return c
		}
	}
	return nil
}

// retire takes the connections out that get no more calls: they have ended, are too old or were idle for too long. The
// caller holds mu.
func (u *Upstream) retire(now time.Time) {
	kept := u.conns[:0]
	for _, c := range u.conns {
		idle := c.InFlight() == 0 && now.Sub(c.used) >= u.timeouts.ReuseIdle
		if c.Err() == nil && !idle && now.Sub(c.born) < maxAge && !u.closed {
			kept = append(kept, c)
			continue
		}
		c.closeAfterCalls()
	}
	clear(u.conns[len(kept):])
	u.conns = kept
}

// closeAfterCalls closes the connection once its calls have ended.
func (c *conn) closeAfterCalls() {
	closeIfIdle := func(of *http.ClientConn) {
		if of.InFlight() == 0 {
			go func() { _ = of.Close() }() // TLS waits up to 5 s for an upstream that doesn't read the alert
		}
	}
	c.SetStateHook(closeIfIdle)
	closeIfIdle(c.ClientConn)
}

// connect opens a connection, with a reserved stream.
func (u *Upstream) connect(ctx context.Context) (*conn, error) {
	u.mu.Lock()
	declined := time.Now().Before(u.http1Until)
	u.mu.Unlock()
	if declined {
		return nil, engine.ErrHTTP1
	}
	ctx, cancel := context.WithTimeout(ctx, 2*u.timeouts.Connect)
	defer cancel()
	// The address only has to be well-formed: the dial knows where to connect.
	opened, err := u.transport.NewClientConn(ctx, u.scheme, "upstream:0")
	if u.orHTTP1 && errors.Is(err, engine.ErrHTTP1) {
		u.mu.Lock()
		u.http1Until = time.Now().Add(askAgain)
		u.mu.Unlock()
	}
	if err != nil {
		return nil, fmt.Errorf("connect to the upstream: %w", err)
	}
	now := time.Now()
	c := &conn{ClientConn: opened, born: now, used: now}
	if err := c.Reserve(); err != nil {
		_ = c.Close()
		return nil, fmt.Errorf("connect to the upstream: %w", err)
	}
	return c, nil
}

// ended notes the end of a call, and sees to it that a connection doesn't wait for longer than it may be reused.
func (u *Upstream) ended(c *conn) {
	u.mu.Lock()
	defer u.mu.Unlock()
	c.used = time.Now()
	if u.reaper == nil && !u.closed {
		u.reaper = time.AfterFunc(min(u.timeouts.ReuseIdle, maxAge), u.reap)
	}
}

// reap closes connections that get no more calls, and runs again while there are others.
func (u *Upstream) reap() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.retire(time.Now())
	if u.reaper = nil; len(u.conns) > 0 {
		u.reaper = time.AfterFunc(max(min(u.timeouts.ReuseIdle, maxAge)/4, reapSoonest), u.reap)
	}
}

// reapSoonest keeps a short ReuseIdle from having the reaper run all the time.
const reapSoonest = 250 * time.Millisecond

// Close closes the idle connections, and the others when their calls are over. Calls can still be forwarded.
func (u *Upstream) Close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.closed = true
	u.retire(time.Now())
	if u.reaper != nil {
		u.reaper.Stop()
		u.reaper = nil
	}
}

// Conns returns how many connections get calls.
func (u *Upstream) Conns() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.conns)
}

// IsGRPC reports whether a Content-Type is that of gRPC over HTTP/2 (grpc/grpc, doc/PROTOCOL-HTTP2.md). That of
// gRPC-Web isn't: its calls are plain HTTP.
func IsGRPC(contentType string) bool {
	const grpc = "application/grpc"
	if len(contentType) < len(grpc) || !strings.EqualFold(contentType[:len(grpc)], grpc) {
		return false
	}
	rest := contentType[len(grpc):]
	return rest == "" || rest[0] == '+' || rest[0] == ';'
}

// wasUnsent reports whether the upstream hasn't processed a call that failed with err (RFC 9113 section 8.7): its
// stream was refused, it is above the last one of a GOAWAY, or the connection couldn't take it any more.
func wasUnsent(err error) bool {
	if refused, ok := errors.AsType[http2.StreamError](err); ok {
		return refused.Code == http2.ErrCodeRefusedStream
	}
	for ; err != nil; err = errors.Unwrap(err) {
		switch err.Error() { // net/http doesn't export them
		case "http2: Transport received Server's graceful shutdown GOAWAY", "http2: client conn not usable":
			return true
		}
	}
	return false
}
