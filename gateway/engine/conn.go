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

// conn is a caller's connection. One goroutine runs all of it.
type conn struct {
	wire
	server   *Server
	session  Session
	exchange Exchange

	mu      sync.Mutex
	waiting bool   // between rest and rested: nothing is lost by closing the connection
	abort   func() // ends what the call waits for; nil outside of a call
	sweeps  int    // that have passed since the wait or the call began
	left    bool   // the caller has left, or the call was cut off

	state     connState             // see turn.go
	turnReady func(fd uintptr) bool // turn, created once
	first     [1]byte               // of a request, read before there is memory for it
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

// recover keeps a fault in one call from ending all others.
func (c *conn) recover() {
	if fault := recover(); fault != nil {
		_ = c.conn.Close()
		if c.server.Recovered != nil {
			c.server.Recovered(fault, debug.Stack())
		}
	}
}

// endIfIdle ends the connection when it waits for a request. It is its own
// goroutine that closes it, here as elsewhere: Close would wait for that one, as
// long as it is in turn.
func (c *conn) endIfIdle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting {
		c.endRest()
	}
}

// hasWaited tells whether the connection waits for a request, and for how many
// sweeps.
func (c *conn) hasWaited() (looks int, waits bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sweeps, c.waiting
}

// endRest wakes a connection that waits for a request. A request that comes in
// this moment can still be answered.
func (c *conn) endRest() { c.wake() }

// handOver gives the connection to the fallback, from the request on that has
// not been answered: its head is still held.
func (c *conn) handOver() {
	_ = c.conn.SetDeadline(time.Time{})
	if c.speaksHTTP2() {
		c.server.Fallback.give(c.conn)
		return
	}
	early := bytes.Clone(c.in.held())
	c.in.release()
	c.server.Fallback.give(&replayed{Conn: c.conn, early: early})
}

// linger ends the connection so that the last answer arrives: closing with
// bytes unread would reset the connection and may take the answer with it.
func (c *conn) linger() {
	half, ok := c.conn.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	c.readUntil(time.Now().Add(lingerTime))
	for c.in.release(); c.fill() == nil; c.in.release() {
	}
}

// lingerTime is how long a caller may take to close after his last answer.
const lingerTime = 500 * time.Millisecond

// watchFor makes abort what happens when the caller leaves or the server is cut.
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

// hasLeft tells whether the call was given up because the caller left.
func (c *conn) hasLeft() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.left
}

// watch is called by the sweep. A call that has just begun is not looked at:
// most are over before they are seen twice. A connection that waits is looked at
// once, for an end that came together with its last request.
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
		} else if c.sweeps%looksPerStand == 0 && !c.session.Stands() {
			c.cutOff()
		}
	}
}

// looksPerStand is how many sweeps pass between two questions whether a call may go on:
// half a second.
const looksPerStand = 2

// cutOff ends the connection and whatever its call waits for. c.mu is held.
func (c *conn) cutOff() {
	c.left = true
	c.interrupt()
	if c.abort != nil {
		c.abort()
	}
}

// cut ends the connection and whatever its call waits for.
func (c *conn) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cutOff()
}

// isTimeout tells whether an error is about time, whoever measured it.
func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout() || errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded)
}
