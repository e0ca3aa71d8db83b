package engine

import (
	"bytes"
	"errors"
	"io"
	"time"
)

// connState is the state of a connection, which only its own goroutine reads and writes. serve
// runs the step from each state to the next.
type connState int

// The states and what each step leads to. A step that fails leads to closing.
//
//	secure    →             awaiting | handingOver
//	await     awaiting →    reading | handingOver | lingering
//	readHead  reading →     calling | handingOver
//	call      calling →     awaiting | reading | handingOver | lingering
//
// On a socket, await runs turn: requests that arrive whole take the steps from awaiting to awaiting within it, and
// await returns the state that turn can't continue from.
const (
	awaiting    connState = iota // nothing of the next request has been read
	reading                      // a part of its head is in the inbox
	calling                      // its head has been parsed and is plain
	handingOver                  // final: the fallback serves it, with the bytes in the inbox
	lingering                    // final: the last response was written; wait until it has arrived
	closing                      // final: nothing is left to write
)

func (s connState) isFinal() bool { return s >= handingOver }

// serve runs a connection from its TLS handshake to its end.
func (c *conn) serve() {
	defer c.server.ended(c)
	defer c.session.End()
	defer c.recover()
	limit := c.server.Limits.FirstHeader
	for c.state = c.secure(); !c.state.isFinal(); {
		switch c.state {
		case awaiting:
			c.state = c.await(limit)
			limit = c.server.Limits.CallerIdle
		case reading:
			c.state = c.readHead()
		default: // calling
			c.state = c.call()
			c.exchange.close()
		}
	}
	c.exchange.close() // of a head that was not served
	switch c.state {
	case handingOver:
		c.handOver()
	case lingering:
		c.linger()
		c.end()
	default: // closing
		c.end()
	}
}

// await waits for the first bytes of a request. On a socket it also serves the requests
// that arrive whole: see turn.
func (c *conn) await(limit time.Duration) connState {
	if !c.rest(time.Now(), limit) {
		return closing
	}
	for {
		err := c.begin()
		switch {
		case err == nil && c.raw != nil:
			return c.state
		case err == nil:
			c.rested()
			return reading
		case !c.renewed(err):
			c.rested()
			return closing
		}
	}
}

// begin waits for the first byte of a request without holding memory for more of it. On a
// socket that is turn, which sets state. The bytes that came with the first are in the TLS
// connection already, and are read next.
func (c *conn) begin() error {
	if c.raw != nil {
		return c.raw.Read(c.turnReady)
	}
	n, err := c.conn.Read(c.first[:])
	if n == 0 {
		return err
	}
	room := c.in.free()
	c.in.w += copy(room, c.first[:n])
	return nil
}

// rest begins to wait for a request. It returns false when the server is closing.
func (c *conn) rest(now time.Time, limit time.Duration) bool {
	c.in.release()
	c.readWithin(now, limit)
	c.mu.Lock()
	c.waiting, c.sweeps = true, 0
	c.mu.Unlock()
	return !c.server.closing.Load()
}

// rested ends the wait that rest began.
func (c *conn) rested() {
	c.mu.Lock()
	c.waiting = false
	c.woken.Store(false) // the request came at the moment when EndIdle or Shutdown ended the wait
	c.mu.Unlock()
}

// turn is called by the runtime's poller when the socket may have something to read. It
// serves the requests that have arrived whole and returns false to wait for more, or true
// when the rest of a request has to be waited for or the state is final.
//
// Serving within the poller's call saves a read for each request: the one that would find
// the socket empty. A read that did not fill its buffer has emptied the socket, and the
// poller, to which turn returns false, reports bytes that arrive later. Only the end of the
// stream can have come with the bytes and go unnoticed: watch looks for it.
//
// The descriptor is locked for reading while turn runs, so it must be read by tryRead only.
func (c *conn) turn(fd uintptr) bool {
	c.within = int(fd)
	defer func() { c.within = -1 }()
	for {
		room := len(c.in.free())
		if !c.tryRead(fd) {
			return false
		}
		c.rested()
		if c.readErr != nil {
			c.state = closing
			return true
		}
		emptied := len(c.in.held()) < room
		for c.state = reading; c.state == reading; {
			if !c.callWhole() {
				return true
			}
		}
		if !c.rest(c.exchange.now, c.server.Limits.CallerIdle) {
			c.state = closing
			return true
		}
		if emptied {
			return false
		}
	}
}

// callWhole serves the next request if it is complete in the inbox, and sets state. It reports whether turn can
// continue: the request was served and the connection stays open.
func (c *conn) callWhole() bool {
	x := &c.exchange
	x.open()
	defer x.close()
	c.state = c.findHead(0)
	if c.state != calling {
		return false
	}
	if int64(len(c.in.held())-x.headSize) < x.Request.Length {
		c.state = reading
		return false
	}
	c.state = c.call()
	return !c.state.isFinal()
}

// readHead reads until the inbox has a complete plain head. A caller has FirstHeader for the rest of a
// head, however slowly it comes.
func (c *conn) readHead() connState {
	c.exchange.open()
	for looked, slow := 0, false; ; {
		if state := c.findHead(looked); state != reading {
			return state
		}
		looked = len(c.in.held())
		if c.in.settle(); len(c.in.free()) == 0 {
			return handingOver
		}
		if !slow {
			slow = true
			c.readUntil(time.Now().Add(c.server.Limits.FirstHeader))
		}
		if err := c.fill(); err != nil {
			if errors.Is(err, io.EOF) {
				return handingOver // the fallback may respond to the bytes in the inbox
			}
			return closing
		}
	}
}

var endOfHead = []byte("\r\n\r\n")

// findHead searches the inbox for a head, after the bytes that were searched before. It returns
// reading if there is no complete head, and calling if the head was parsed into the exchange.
func (c *conn) findHead(looked int) connState {
	x, held := &c.exchange, c.in.held()
	from := max(0, looked-len(endOfHead)+1)
	if at := bytes.Index(held[from:], endOfHead); at >= 0 {
		x.headSize = from + at + len(endOfHead)
		if x.Request.parse(x.page.keep(ofRequest, held[:x.headSize])) != plain {
			return handingOver
		}
		return calling
	}
	// A line that is not plain is handed over at once, so that it is answered when it
	// arrives and not when FirstHeader is over.
	if bytes.IndexByte(held[looked:], '\n') >= 0 && x.Request.parse(string(held)) != partial {
		return handingOver
	}
	return reading
}

// call lets the session serve the request that was read.
func (c *conn) call() connState {
	x := &c.exchange
	x.Began = time.Now()
	x.now = x.Began
	c.called = true
	if !c.session.Serve(x) {
		return handingOver
	}
	switch {
	case x.broken:
		return closing
	case x.lastResponse || x.bodyLeft > 0 && !x.discardBody():
		return lingering
	case c.in.empty():
		return awaiting
	}
	return reading
}
