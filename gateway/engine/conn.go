package engine

import (
	"bytes"
	"context"
	"errors"
	"io"
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
	waiting bool   // for a request: nothing is lost by closing it
	abort   func() // gives up what the call waits for; nil outside of one
	looks   int    // sweeps that have passed since the wait or the call began
	left    bool   // the caller has

	first [1]byte // of a request, read before there is memory for it

	turnReady func(fd uintptr) bool // turn, made once
	turned    next                  // what turn ended with
}

func newConn(s *Server, raw net.Conn) *conn {
	c := &conn{server: s}
	c.open(raw)
	c.session = s.NewSession(raw)
	c.exchange.conn = c
	c.turnReady = c.turn
	return c
}

// next is what becomes of a connection.
type next int

const (
	goOn next = iota
	end
	endGently // so that the last answer arrives
	handOver
)

func (c *conn) serve() {
	defer c.server.ended(c)
	defer c.session.End()
	defer c.recover()
	n := c.secure()
	for wait := c.server.Limits.FirstHeader; n == goOn; wait = c.server.Limits.CallerIdle {
		if n = c.readHead(wait); n == goOn {
			n = c.call()
		}
		c.exchange.close()
	}
	switch n {
	case endGently:
		c.linger()
		fallthrough
	case end:
		c.in.release()
		if c.hasLeft() {
			_ = Cut(c.conn)
		} else {
			_ = c.conn.Close()
		}
	case handOver:
		c.handOver()
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

// readHead reads until a plain head is there. wait bounds the time until its
// first byte; from then on a slow caller has FirstHeader for all of it.
func (c *conn) readHead(wait time.Duration) next {
	if c.in.empty() {
		if n := c.await(wait); n != goOn {
			return n
		}
	}
	c.exchange.open()
	for looked, slow := 0, false; ; {
		if n, found := c.findHead(looked); found {
			return n
		}
		looked = len(c.in.held())
		if c.in.settle(); len(c.in.free()) == 0 {
			return handOver
		}
		if !slow {
			slow = true
			c.readUntil(time.Now().Add(c.server.Limits.FirstHeader))
		}
		if err := c.fill(); err != nil {
			if errors.Is(err, io.EOF) {
				return handOver // what is there may be worth an answer
			}
			return end
		}
	}
}

var endOfHead = []byte("\r\n\r\n")

// findHead looks for a head in what is held, of which the first bytes have been
// looked at before.
func (c *conn) findHead(looked int) (n next, found bool) {
	x, held := &c.exchange, c.in.held()
	from := max(0, looked-len(endOfHead)+1)
	if at := bytes.Index(held[from:], endOfHead); at >= 0 {
		x.headSize = from + at + len(endOfHead)
		if x.Request.parse(x.page.keep(ofRequest, held[:x.headSize])) != plain {
			return handOver, true
		}
		return goOn, true
	}
	// A line that is not plain is handed over at once, so that it is answered
	// when it is seen and not when the patience is over.
	if bytes.IndexByte(held[looked:], '\n') >= 0 && x.Request.parse(string(held)) != partial {
		return handOver, true
	}
	return goOn, false
}

// await waits for the first bytes of a request. On a socket it also serves the
// requests that come whole, and returns with what is not: see turn.
func (c *conn) await(wait time.Duration) next {
	if !c.rest(time.Now(), wait) {
		return end
	}
	for {
		err := c.begin()
		switch {
		case err == nil && c.raw != nil:
			return c.turned
		case err == nil:
			c.rested()
			return goOn
		case !c.renewed(err):
			c.rested()
			return end
		}
	}
}

// rest begins to wait for a request; false when the server is closing.
func (c *conn) rest(now time.Time, wait time.Duration) bool {
	c.in.release()
	c.readWithin(now, wait)
	c.mu.Lock()
	c.waiting, c.looks = true, 0
	c.mu.Unlock()
	return !c.server.closing.Load()
}

func (c *conn) rested() {
	c.mu.Lock()
	c.waiting = false
	c.woken.Store(false) // its request came in the moment when it was to end
	c.mu.Unlock()
}

// turn is what the poller calls when there may be something to read. Whole
// requests are served within, because going back to the poller by returning
// false keeps what it has learnt meanwhile: the read that would come too early
// for the next request is saved. A read that did not fill its room has emptied
// the socket, and whatever comes later is reported. Only the end of the stream
// can have come with the bytes and go unnoticed: watch looks for it.
//
// It must not read in any other way: the descriptor is locked for reading.
func (c *conn) turn(fd uintptr) bool {
	c.within = int(fd)
	defer func() { c.within = -1 }()
	for {
		room := len(c.in.free())
		if !c.tryRead(fd) {
			return false
		}
		c.rested()
		if c.turned = end; c.readErr != nil {
			return true
		}
		emptied := len(c.in.held()) < room
		for !c.in.empty() {
			if !c.callWhole() {
				return true
			}
		}
		if !c.rest(c.exchange.now, c.server.Limits.CallerIdle) {
			c.turned = end
			return true
		}
		if emptied {
			return false
		}
	}
}

// callWhole serves the next request if all of it is held.
func (c *conn) callWhole() bool {
	x := &c.exchange
	x.open()
	defer x.close()
	n, found := c.findHead(0)
	switch {
	case !found || n == goOn && int64(len(c.in.held())-x.headSize) < x.Request.Length:
		c.turned = goOn
		return false
	case n == goOn:
		n = c.call()
	}
	c.turned = n
	return n == goOn
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
	return c.looks, c.waiting
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

// call lets the session serve the request that was read.
func (c *conn) call() next {
	x := &c.exchange
	x.Began = time.Now()
	x.now = x.Began
	if !c.session.Serve(x) {
		return handOver
	}
	switch {
	case x.broken:
		return end
	case x.lastAnswer || x.bodyLeft > 0 && !x.discardBody():
		return endGently
	}
	return goOn
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
	c.abort, c.looks = abort, 0
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
	c.looks++
	switch {
	case c.waiting && c.looks == 1:
		if c.peek() == gone {
			c.endRest()
		}
	case c.abort != nil && c.looks > 1:
		if c.peek() == gone {
			c.left = true
			c.abort()
		} else if c.looks%looksPerStand == 0 && !c.session.Stands() {
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
