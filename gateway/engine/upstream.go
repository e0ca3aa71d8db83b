package engine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

// Upstream is an address to which calls of a project are forwarded, with its idle connections. It is safe for
// concurrent use.
type Upstream struct {
	pool     *Pool
	dial     func(context.Context) (net.Conn, error)
	timeouts Timeouts

	// Multiplexed sends the calls of RoundTrip over HTTP/2, except upgrades. nil: HTTP/1.1 is used. It is set before
	// the upstream is used, and closed with it.
	Multiplexed Multiplexed

	// Guarded by pool.mu.
	idle    []*backend // the most recently used is last
	reaper  *time.Timer
	reaping bool // the reaper will run
	listed  bool // in the pool
	closed  bool
}

// Timeouts bound the waits for an upstream, and how long its connections are used. Every field must be set.
type Timeouts struct {
	Connect    time.Duration // for connecting, including name resolution, and again for TLS
	Response   time.Duration // from the end of the request to the first byte of the response
	Idle       time.Duration // between two reads of a response, and for each write of a request
	StreamIdle time.Duration // between two reads of an event stream, and in a tunnel
	ReuseIdle  time.Duration // of a connection, between two calls
}

const (
	// maxAge is the age at which a connection gets no more calls, so that a change of the upstream's addresses in DNS
	// is followed.
	maxAge = 60 * time.Second

	// closingMargin is how long before the end that an upstream announces (Keep-Alive: timeout) a connection gets no
	// more calls. It leaves time for a request to arrive.
	closingMargin = time.Second
)

// NewUpstream returns an upstream whose connections are created by dial, which uses Secure for TLS. The context of dial
// ends at the timeout for connecting, or when the caller leaves.
func (p *Pool) NewUpstream(dial func(context.Context) (net.Conn, error), timeouts Timeouts) *Upstream {
	return &Upstream{pool: p, dial: dial, timeouts: timeouts}
}

// backend is a connection to an upstream.
type backend struct {
	wire
	born      time.Time
	idleSince time.Time
	until     time.Time // an idle connection gets no call from then on
	abort     func()    // interrupt, as a value that is created once

	unseen   bool // it was idle, and was not checked yet for bytes that arrived in the meantime
	begun    bool // a part of the request was written before ask: the upstream may have answered it already
	askReady func(fd uintptr) bool
	asked    bool
	askErr   error // of the read in ask, for the next fill
}

func (u *Upstream) connect(ctx context.Context) (*backend, error) {
	c, err := u.dial(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect to the upstream: %w", err)
	}
	b := &backend{born: time.Now()}
	b.open(c)
	b.abort, b.askReady = b.interrupt, b.tryAsk
	return b, nil
}

// take returns an idle connection that may be used now, nil if there is none. Before it is used it must be checked
// for bytes that have arrived: see errStale.
func (u *Upstream) take(now time.Time) *backend {
	for {
		b := u.pop()
		if b == nil || now.Before(b.until) {
			return b
		}
		b.discard()
	}
}

func (u *Upstream) pop() *backend {
	u.pool.mu.Lock()
	defer u.pool.mu.Unlock()
	n := len(u.idle)
	if n == 0 {
		return nil
	}
	b := u.idle[n-1]
	u.idle[n-1] = nil
	u.idle = u.idle[:n-1]
	u.pool.left(1)
	return b
}

// errStale means that something arrived on an idle connection: its end, or an unrequested
// answer, which the next caller would get. Nothing was written to it.
var errStale = errors.New("data arrived on an idle connection")

// put keeps a connection for the next call, or closes it if bytes were read after the response. since is when the end
// of the response was read, and announced what its keepAlive is.
// Bytes that arrive later are noticed when it is used again.
func (u *Upstream) put(b *backend, since time.Time, announced time.Duration) {
	if b.interrupted.Load() || !b.drained() {
		b.close()
		return
	}
	b.in.release()
	b.idleSince, b.until, b.unseen = since, since.Add(u.timeouts.ReuseIdle), true
	if oldest := b.born.Add(maxAge); oldest.Before(b.until) {
		b.until = oldest
	}
	if announced > 0 {
		if end := since.Add(announced - closingMargin); end.Before(b.until) {
			b.until = end
		}
	}
	if !since.Before(b.until) || !u.pool.keep(u, b) {
		b.close()
	}
}

// reapSoonest keeps a short ReuseIdle from having the reaper run all the time.
const reapSoonest = 250 * time.Millisecond

// reapLater has the reaper run after a time. The caller holds the pool's mu.
func (u *Upstream) reapLater(after time.Duration) {
	u.reaping = true
	if after = max(after, reapSoonest); u.reaper == nil {
		u.reaper = time.AfterFunc(after, u.reap)
	} else {
		u.reaper.Reset(after)
	}
}

// reap closes connections that have been idle for too long, and runs again while there are
// others.
func (u *Upstream) reap() {
	u.pool.mu.Lock()
	defer u.pool.mu.Unlock()
	u.reaping = false
	if u.closed {
		return
	}
	now, kept := time.Now(), u.idle[:0]
	for _, b := range u.idle {
		if now.Before(b.until) {
			kept = append(kept, b)
		} else {
			b.discard()
		}
	}
	u.pool.left(len(u.idle) - len(kept))
	clear(u.idle[len(kept):])
	if u.idle = kept; len(kept) > 0 {
		u.reapLater(u.keeps() / 4)
	}
}

// keeps returns for how long a connection can be idle.
func (u *Upstream) keeps() time.Duration { return min(u.timeouts.ReuseIdle, maxAge) }

// closeFirst closes the n connections that have been idle longest. The caller holds the
// pool's mu.
func (u *Upstream) closeFirst(n int) {
	for _, b := range u.idle[:n] {
		b.discard()
	}
	u.pool.left(n)
	kept := copy(u.idle, u.idle[n:])
	clear(u.idle[kept:])
	u.idle = u.idle[:kept]
}

// Close closes idle connections immediately, and the others when their calls are over. Calls can still be forwarded.
func (u *Upstream) Close() {
	u.close()
	if u.Multiplexed != nil {
		u.Multiplexed.Close()
	}
	u.pool.budget.forget(u.pool)
}

func (u *Upstream) close() {
	u.pool.mu.Lock()
	defer u.pool.mu.Unlock()
	u.closed = true
	u.closeFirst(len(u.idle))
	delete(u.pool.upstreams, u)
	if u.reaper != nil {
		u.reaper.Stop()
	}
}

func (b *backend) close() {
	b.in.release()
	_ = b.conn.Close()
}

// discard closes an idle connection without waiting.
func (b *backend) discard() {
	if b.raw != nil {
		b.close()
	} else {
		go b.close() // TLS waits up to 5 s for an upstream that does not read the alert
	}
}

// cut closes the connection in the middle of a call.
func (b *backend) cut() {
	b.in.release()
	_ = Cut(b.conn)
}

// begin writes the first part of a request. It returns errStale if the connection must not be
// used.
func (b *backend) begin(p []byte) error {
	if b.unseen {
		if b.unseen = false; b.peek() != nothing {
			return errStale
		}
	}
	b.begun = true
	return b.write(p)
}

// ask writes a request, or the rest of one, and waits for the first bytes of the response. It writes inside
// the poller's call for the read, so that the poller reports the response and a read that would
// find nothing is saved. Errors of the read are returned by the
// next fill; errStale is returned as by begin.
func (b *backend) ask(p []byte) error {
	if b.raw == nil {
		return b.begin(p)
	}
	waited := b.unseen
	b.out, b.asked, b.readErr, b.writeErr = p, false, nil, nil
	err := b.raw.Read(b.askReady)
	for err != nil && b.renewed(err) {
		err = b.raw.Read(b.askReady)
	}
	rest := b.out
	b.out, b.begun = nil, false
	switch {
	case b.unseen && b.asked, waited && b.writeErr != nil && len(rest) == len(p):
		return errStale
	case !b.asked: // the poller refused the read
		return fmt.Errorf("write: %w", err)
	case b.writeErr != nil:
		return b.writeErr
	case len(rest) > 0:
		return b.write(rest)
	case err != nil:
		b.askErr = fmt.Errorf("read: %w", err)
	default:
		b.askErr = b.readErr
	}
	return nil
}

func (b *backend) tryAsk(fd uintptr) bool {
	if b.asked {
		return b.tryRead(fd)
	}
	b.asked = true
	if b.unseen && peekSocket(fd) != nothing {
		return true
	}
	b.unseen = false
	done := b.tryWrite(fd)
	if !done || b.writeErr != nil { // then there is nothing to wait for yet
		return true
	}
	// The poller does not report again what came while the request was written.
	return b.begun && b.tryRead(fd)
}

// fill returns the error that ask has left, or fills the wire.
func (b *backend) fill() error {
	if err := b.askErr; err != nil {
		b.askErr = nil
		return err
	}
	return b.wire.fill()
}
