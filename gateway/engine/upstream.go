package engine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

// Upstream is where calls of one project are forwarded to, with the connections to it
// that wait for the next one. It is safe for concurrent use.
type Upstream struct {
	pool *Pool
	dial func(context.Context) (net.Conn, error)

	// Guarded by the pool.
	idle   []*backend // the last one used is the last
	reaper *time.Timer
	listed bool // in the pool
	closed bool
}

// keepIdle is below the 60 s after which servers commonly hang up.
const keepIdle = 50 * time.Second

// NewUpstream makes an upstream whose connections dial makes, TLS with Secure. The
// context given to it ends when the time for connecting is over or the caller
// has left.
func (p *Pool) NewUpstream(dial func(context.Context) (net.Conn, error)) *Upstream {
	return &Upstream{pool: p, dial: dial}
}

// backend is a connection to an upstream.
type backend struct {
	wire
	idleSince time.Time
	abort     func() // interrupt, made once

	unseen   bool // it has waited, and nobody has looked since whether something arrived
	askReady func(fd uintptr) bool
	asked    bool
	askErr   error // of the read in ask, for the next fill
}

func (u *Upstream) connect(ctx context.Context) (*backend, error) {
	c, err := u.dial(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect to the upstream: %w", err)
	}
	b := &backend{}
	b.open(c)
	b.abort, b.askReady = b.interrupt, b.tryAsk
	return b, nil
}

// take returns a connection that waits, nil when there is none. Whoever
// uses it first looks whether something has arrived: see errStale.
func (u *Upstream) take() *backend {
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

// errStale says that something has arrived on a connection that waited: its end, or
// an answer that nobody asked for and the next caller would get. Nothing was written.
var errStale = errors.New("something arrived on a connection that waited")

// put keeps a connection for the next call, or closes it where anything has been read
// of it beyond the answer. What arrives from here on is seen when it is used again.
func (u *Upstream) put(b *backend, now time.Time) {
	if b.interrupted.Load() || !b.drained() {
		b.close()
		return
	}
	b.in.release()
	b.idleSince, b.unseen = now, true
	if !u.pool.keep(u, b) {
		b.close()
	}
}

// reap closes connections that have waited too long, and comes back while any
// wait.
func (u *Upstream) reap() {
	u.pool.mu.Lock()
	defer u.pool.mu.Unlock()
	late := 0
	for late < len(u.idle) && time.Since(u.idle[late].idleSince) >= keepIdle {
		late++
	}
	u.closeFirst(late)
	u.reaper = nil
	if len(u.idle) > 0 {
		u.reaper = time.AfterFunc(keepIdle/4, u.reap)
	}
}

// closeFirst closes the connections that have waited longest. The pool is locked.
func (u *Upstream) closeFirst(n int) {
	for _, b := range u.idle[:n] {
		if b.raw != nil {
			b.close()
		} else {
			go b.close() // TLS waits up to 5 s for an upstream that does not read its goodbye
		}
	}
	u.pool.left(n)
	kept := copy(u.idle, u.idle[n:])
	clear(u.idle[kept:])
	u.idle = u.idle[:kept]
}

// Close lets go of waiting connections, and of those under way when their calls
// are over. Calls can still be forwarded.
func (u *Upstream) Close() {
	u.close()
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

// cut is close in the middle of a call.
func (b *backend) cut() {
	b.in.release()
	_ = Cut(b.conn)
}

// begin writes the beginning of a request whose rest is still to come. Its error is
// errStale where nothing may be written.
func (b *backend) begin(p []byte) error {
	if b.unseen {
		if b.unseen = false; b.peek() != nothing {
			return errStale
		}
	}
	return b.write(p)
}

// ask writes a whole request and waits for the first bytes of the answer. The
// write is made inside of the read, when the poller has been told to report
// anew: the answer cannot be missed, and the read that would come too early to
// find one is saved. Errors of the read are for the next fill to return; errStale is
// as of begin.
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
	b.out = nil
	switch {
	case b.unseen && b.asked, waited && b.writeErr != nil && len(rest) == len(p):
		return errStale
	case !b.asked: // it was refused before it began
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
	return !done || b.writeErr != nil // then there is nothing to wait for yet
}

// fill is that of the wire, after what ask left behind.
func (b *backend) fill() error {
	if err := b.askErr; err != nil {
		b.askErr = nil
		return err
	}
	return b.wire.fill()
}
