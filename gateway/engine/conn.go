package engine

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"time"
)

// conn is a caller's connection. One goroutine serves it; the sweep, Shutdown and EndIdle
// touch only what mu guards, and wake it.
type conn struct {
	wire
	server   *Server
	session  Session
	exchange Exchange

	mu      sync.Mutex
	waiting bool   // set by rest, cleared by rested: closing the connection loses no request
	abort   func() // ends the call's current wait; nil outside of a call
	sweeps  int    // that have passed since the wait or the call began
	left    bool   // the caller has left, or the call was cut off
	called  bool   // a request was read; not guarded

	state     connState             // see turn.go
	turnReady func(fd uintptr) bool // turn, created once
	first     [1]byte               // first byte of a request, read before a buffer is allocated
}

func newConn(s *Server, raw net.Conn) *conn {
	c := &conn{server: s}
	c.open(raw)
	c.session = s.NewSession(raw)
	c.exchange.conn = c
	c.turnReady = c.turn
	return c
}

// end closes the connection.
func (c *conn) end() {
	c.in.release()
	if c.hasLeft() {
		_ = Cut(c.conn)
	} else {
		_ = c.conn.Close()
	}
}

// recover keeps a panic in one call from ending the process.
func (c *conn) recover() {
	if fault := recover(); fault != nil {
		_ = c.conn.Close()
		if c.server.Recovered != nil {
			c.server.Recovered(fault, debug.Stack())
		}
	}
}

// endIfIdle ends the connection if it waits for a request. It wakes the connection's own
// goroutine to close it: Close would block while that goroutine is in turn.
func (c *conn) endIfIdle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting {
		c.endRest()
	}
}

// hasWaited reports whether the connection waits for a request, and for how many sweeps.
func (c *conn) hasWaited() (sweeps int, waits bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sweeps, c.waiting
}

// endRest wakes a connection that waits for a request. A request that arrives at this moment
// is still answered.
func (c *conn) endRest() { c.wake() }

// handOver gives the connection to the fallback, with the bytes of the unanswered request that
// were read, or to the server of HTTP/2.
func (c *conn) handOver() {
	_ = c.conn.SetDeadline(time.Time{})
	if c.speaksHTTP2() {
		c.server.ServeHTTP2(c.conn)
		return
	}
	early := bytes.Clone(c.in.held())
	c.in.release()
	rest := &replayed{Conn: c.conn, early: early}
	if c.server.PlainHTTP2 && c.server.Secure == nil && !c.called && bytes.HasPrefix(early, beginOfPreface) {
		c.server.ServeHTTP2(rest)
		return
	}
	c.server.Fallback.Give(rest)
}

// beginOfPreface is the first line of HTTP/2's connection preface (RFC 9113 section 3.4).
var beginOfPreface = []byte("PRI * HTTP/2.0\r\n")

// linger half-closes the connection and waits for the caller to close: closing with unread
// bytes would reset the connection and may discard the last response.
func (c *conn) linger() {
	half, ok := c.conn.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	c.readUntil(time.Now().Add(lingerTime))
	for c.in.release(); c.fill() == nil; c.in.release() {
	}
}

// lingerTime is how long a caller may take to close after the last response.
const lingerTime = 500 * time.Millisecond

// watchFor has abort called when the caller leaves or the call is cut off.
func (c *conn) watchFor(abort func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.abort, c.sweeps = abort, 0
	if c.left {
		abort()
	}
}

func (c *conn) watchNothing() {
	c.mu.Lock()
	c.abort = nil
	c.mu.Unlock()
}

// hasLeft reports whether the caller has left or the call was cut off.
func (c *conn) hasLeft() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.left
}

// watch is called by the sweep. It aborts a call whose caller has left, and cuts off one that
// Session.MayContinue refuses. It skips calls before their second sweep, since most have ended by
// then. It checks a waiting connection once, because the end of the stream may have arrived
// together with the last request.
func (c *conn) watch() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sweeps++
	switch {
	case c.waiting && c.sweeps == 1:
		if c.peek() == gone {
			c.endRest()
		}
	case c.abort != nil && c.sweeps > 1:
		if c.peek() == gone {
			c.left = true
			c.abort()
		} else if c.sweeps%sweepsPerRecheck == 0 && !c.session.MayContinue() {
			c.cutOff()
		}
	}
}

// sweepsPerRecheck is how many sweeps pass between two calls of MayContinue: half a second.
const sweepsPerRecheck = 2

// cutOff ends the connection and its call. The caller holds c.mu.
func (c *conn) cutOff() {
	c.left = true
	c.interrupt()
	if c.abort != nil {
		c.abort()
	}
}

// cut ends the connection and its call.
func (c *conn) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cutOff()
}

// isTimeout reports whether an error is a timeout: of a connection, a file or a context.
func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout() || errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded)
}
