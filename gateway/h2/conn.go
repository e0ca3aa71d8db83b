package h2

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// Windows that callers get, in bytes. One stream may use the whole connection's window.
const (
	receiveWindow = 1 << 20
	firstWindow   = 65535 // of both sides, before SETTINGS and WINDOW_UPDATE (RFC 9113 section 6.9.2)
	mostWindow    = 1<<31 - 1
	maxFrame      = 16384    // payload of a frame to callers: all of them accept that
	maxReceived   = 64 << 10 // payload of a frame from callers
)

// lingerTime is how long a connection stays open after its last frame: closing with unread bytes would reset the
// connection and may discard what the caller has not read.
const lingerTime = 250 * time.Millisecond

// conn is a caller's connection. The goroutine of serve reads it; workers run its calls and write.
type conn struct {
	server *Server
	nc     net.Conn
	ctx    context.Context // of its requests, without their ends
	remote string
	tls    *tls.ConnectionState
	dead   chan struct{} // closed by kill and fail

	// Used by the reader alone.
	in      input
	decoder *hpack.Decoder
	block   headerBlock
	names   map[string]string // canonical forms of names of fields
	greeted bool              // the first SETTINGS have arrived

	mu      sync.Mutex
	err     error // why the connection ended; nil while it is open
	streams map[uint32]*stream
	running int         // handlers, including those of streams that were reset
	lastID  uint32      // of the newest stream
	opened  uint32      // how many streams were opened
	resets  [128]uint32 // the newest streams that the server reset: frames of them may be on their way
	reset   int         // index of the next one in resets
	waste   budget
	broken  budget // streams without a response

	// Deadline of reads. It may be earlier than due: setting one for each call would cost more.
	partial   time.Time // since when a frame, or a header, is incomplete; zero: none is
	idleSince time.Time // when the last call ended
	closeAt   time.Time // not zero: goAway was called and the last call is over
	readBy    time.Time
	leaving   bool // GOAWAY was sent

	receive  int64 // window for data from the caller
	returned int   // bytes received and used, for which that window is not open again yet
	output         // see write.go
}

func newConn(s *Server, nc net.Conn) *conn {
	now := time.Now()
	c := &conn{
		server:    s,
		nc:        nc,
		remote:    nc.RemoteAddr().String(),
		tls:       stateOf(nc),
		dead:      make(chan struct{}),
		streams:   map[uint32]*stream{},
		waste:     newBudget(wasteMost, wastePerSecond),
		broken:    newBudget(resetMost, resetPerSecond),
		partial:   now,
		idleSince: now,
		receive:   receiveWindow,
		output:    output{window: firstWindow, initial: firstWindow},
	}
	c.ctx = context.WithValue(context.Background(), http.LocalAddrContextKey, nc.LocalAddr())
	if s.ConnContext != nil {
		c.ctx = s.ConnContext(c.ctx, nc)
	}
	c.decoder = hpack.NewDecoder(4096, c.field)
	c.decoder.SetMaxStringLength(s.Limits.HeaderBytes)
	return c
}

// serve runs the connection until its end.
func (c *conn) serve() {
	defer c.server.remove(c)
	defer c.recover()
	c.mu.Lock()
	c.greet()
	c.mu.Unlock()
	err := c.readAll()
	c.in.release()
	refused, isRefused := errors.AsType[connError](err)
	if isRefused {
		c.sendAway(refused)
	}
	if isRefused || errors.Is(err, errEnded) {
		_ = c.nc.Close() // TLS sends an alert, and waits 5 s for that if the caller does not read
	}
	c.fail(err)
}

// recover keeps a fault in reading from ending the process.
func (c *conn) recover() {
	if fault := recover(); fault != nil {
		c.kill()
		if c.server.Recovered != nil {
			c.server.Recovered(fault, debug.Stack())
		}
	}
}

// greet sends the server's preface (RFC 9113 section 3.4).
func (c *conn) greet() {
	out := appendFrame(c.room(), 4*6, http2.FrameSettings, 0, 0)
	out = appendSetting(out, http2.SettingMaxConcurrentStreams, uint32(c.server.Limits.Streams))
	out = appendSetting(out, http2.SettingMaxHeaderListSize, uint32(c.server.Limits.HeaderBytes))
	out = appendSetting(out, http2.SettingInitialWindowSize, receiveWindow)
	out = appendSetting(out, http2.SettingMaxFrameSize, maxReceived)
	c.out = appendWindowUpdate(out, 0, receiveWindow-firstWindow)
}

// readAll reads frames until the end of the connection.
func (c *conn) readAll() error {
	if err := c.need(len(http2.ClientPreface)); err != nil {
		return err
	}
	if string(c.in.take(len(http2.ClientPreface))) != http2.ClientPreface {
		return connError{http2.ErrCodeProtocol, "no preface"}
	}
	for {
		if err := c.readFrame(); err != nil {
			return err
		}
	}
}

// need returns when at least n bytes were read and not taken.
func (c *conn) need(n int) error {
	for c.in.held() < n {
		if c.in.held() > 0 || c.block.open {
			c.begun()
		}
		c.in.makeRoom(n)
		if err := c.fill(); err != nil {
			return err
		}
	}
	return nil
}

// begun notes that a frame or a header has begun and is waited for.
func (c *conn) begun() {
	c.mu.Lock()
	if c.partial.IsZero() {
		c.partial = time.Now()
	}
	c.arm()
	c.mu.Unlock()
}

// whole notes that no frame and no header is waited for.
func (c *conn) whole() {
	if c.partial.IsZero() { // only the reader sets it
		return
	}
	c.mu.Lock()
	c.partial = time.Time{}
	c.arm()
	c.mu.Unlock()
}

// fill reads once. Before it waits, it flushes the reader's writes.
func (c *conn) fill() error {
	c.mu.Lock()
	c.flushSoon()
	if c.readBy.IsZero() {
		c.arm()
	}
	c.mu.Unlock()
	for {
		n, err := c.nc.Read(c.in.free())
		c.in.add(n)
		switch {
		case n > 0:
			return nil
		case err == nil:
		case !isTimeout(err):
			return err
		default:
			if err := c.timedOut(); err != nil {
				return err
			}
		}
	}
}

// due returns when a read times out. The caller holds c.mu.
func (c *conn) due() time.Time {
	switch {
	case !c.closeAt.IsZero():
		return c.closeAt
	case !c.partial.IsZero():
		return c.partial.Add(c.server.Limits.Header)
	case c.isIdle():
		return c.idleSince.Add(c.server.Limits.Idle)
	}
	return time.Now().Add(c.server.Limits.Idle) // to look again
}

func (c *conn) isIdle() bool { return c.running == 0 && len(c.streams) == 0 }

// arm sets the deadline if it is later than due. The caller holds c.mu.
func (c *conn) arm() {
	if due := c.due(); c.readBy.IsZero() || c.readBy.After(due) {
		c.readBy = due
		_ = c.nc.SetReadDeadline(due)
	}
}

// timedOut decides about a read whose deadline has passed. It returns nil if the read continues.
func (c *conn) timedOut() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return c.err
	}
	c.readBy = time.Time{}
	if c.due().After(time.Now()) {
		c.arm()
		return nil
	}
	switch {
	case !c.closeAt.IsZero():
		return errEnded
	case !c.partial.IsZero():
		return connError{http2.ErrCodeEnhanceYourCalm, "a frame or a header takes too long"}
	}
	return connError{http2.ErrCodeNo, "idle"}
}

// goAway tells the caller to send no more requests. The connection ends with the last call.
func (c *conn) goAway() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil || c.leaving {
		return
	}
	c.leave(http2.ErrCodeNo)
	c.flushSoon()
	c.endIfLast()
}

// leave queues GOAWAY. The caller holds c.mu.
func (c *conn) leave(code http2.ErrCode) {
	c.leaving = true
	c.out = appendGoAway(c.room(), c.lastID, code)
}

// endIfLast ends the connection soon, if it is to end and no call is left. The caller holds c.mu.
func (c *conn) endIfLast() {
	if c.leaving && c.closeAt.IsZero() && c.isIdle() {
		c.closeAt = time.Now().Add(lingerTime)
		c.arm()
	}
}

// sendAway sends GOAWAY with the reason, ends the calls and lets the caller read it.
func (c *conn) sendAway(why connError) {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return
	}
	c.endStreams(errGone)
	c.leave(why.code)
	c.flushSoon()
	c.mu.Unlock()
	linger := time.NewTimer(lingerTime)
	defer linger.Stop()
	select {
	case <-linger.C:
	case <-c.dead:
	}
}

// kill ends the connection and its calls.
func (c *conn) kill() { c.fail(errGone) }

// fail ends the connection, once.
func (c *conn) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failLocked(err)
}

func (c *conn) failLocked(err error) {
	if c.err != nil {
		return
	}
	if c.err = err; err == nil {
		c.err = errGone
	}
	close(c.dead)
	c.endStreams(errGone)
	_ = cut(c.nc)
}

// endStreams ends every stream. The caller holds c.mu.
func (c *conn) endStreams(err error) {
	for _, st := range c.streams {
		c.end(st, err)
	}
}

func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}
