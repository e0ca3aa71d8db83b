package engine

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
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
	looks   int    // sweeps that have passed since the call began
	left    bool   // the caller has
}

func newConn(s *Server, raw net.Conn) *conn {
	c := &conn{server: s}
	c.open(raw)
	c.session = s.NewSession(raw)
	c.exchange.conn = c
	return c
}

// next is what becomes of a connection.
type next int

const (
	goOn next = iota
	end
	handOver
)

func (c *conn) serve() {
	defer c.server.ended(c)
	wait := c.server.Limits.FirstHeader
	for {
		n := c.readHead(wait)
		if n == goOn {
			n = c.call()
		}
		c.exchange.close()
		switch n {
		case end:
			c.in.release()
			_ = c.conn.Close()
			return
		case handOver:
			c.handOver()
			return
		}
		wait = c.server.Limits.CallerIdle
	}
}

var endOfHead = []byte("\r\n\r\n")

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
		held := c.in.held()
		from := max(0, looked-len(endOfHead)+1)
		if at := bytes.Index(held[from:], endOfHead); at >= 0 {
			size := from + at + len(endOfHead)
			if c.exchange.Request.parse(string(held[:size])) != plain {
				return handOver
			}
			c.exchange.headSize = size
			return goOn
		}
		// A line that is not plain is handed over at once, so that it is answered
		// when it is seen and not when the patience is over.
		if bytes.IndexByte(held[looked:], '\n') >= 0 && c.exchange.Request.parse(string(held)) != partial {
			return handOver
		}
		looked = len(held)
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

// await waits for the first bytes of a request, unless the server is closing.
func (c *conn) await(wait time.Duration) next {
	c.readWithin(time.Now(), wait)
	c.mu.Lock()
	c.waiting = true
	c.mu.Unlock()
	if c.server.closing.Load() {
		return end
	}
	err := c.fill()
	c.mu.Lock()
	c.waiting = false
	c.mu.Unlock()
	if err != nil {
		return end
	}
	return goOn
}

// endIfIdle closes the connection when it waits for a request.
func (c *conn) endIfIdle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting {
		_ = c.conn.Close()
	}
}

// handOver gives the connection to the fallback, from the request on that has
// not been answered: its head is still held.
func (c *conn) handOver() {
	early := bytes.Clone(c.in.held())
	c.in.release()
	_ = c.conn.SetDeadline(time.Time{})
	c.server.Fallback.give(&replayed{Conn: c.conn, early: early})
}

// call lets the session serve the request that was read.
func (c *conn) call() next {
	x := &c.exchange
	if !c.session.Serve(x) {
		return handOver
	}
	switch {
	case x.broken:
		return end
	case x.lastAnswer || x.bodyLeft > 0 && !x.discardBody():
		c.linger()
		return end
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
// most are over before they are seen twice.
func (c *conn) watch() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.abort == nil {
		return
	}
	if c.looks++; c.looks > 1 && c.peek() == gone {
		c.left = true
		c.abort()
	}
}

// cut ends the connection and whatever its call waits for.
func (c *conn) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left = true
	_ = c.conn.Close()
	if c.abort != nil {
		c.abort()
	}
}

// isTimeout tells whether an error is about time, whoever measured it.
func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout() || errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded)
}
