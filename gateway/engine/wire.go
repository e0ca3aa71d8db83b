package engine

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// wire reads and writes one connection. On a socket it makes its own system
// calls below the runtime's poller: reads take memory only when there is
// something to read, and no call costs the scheduler's bookkeeping, because none
// of them blocks.
type wire struct {
	conn net.Conn
	raw  syscall.RawConn // nil for what is no socket, such as TLS
	in   inbox

	socket  syscall.RawConn // to look at: of TLS the one below
	framed  bool            // a goodbye comes before the end of the stream, as in TLS
	records *records        // below TLS; nil where Secure did not make it
	seen    peeked

	// What the function given to raw works on. The functions are made once:
	// a closure for every read would be an allocation for every read.
	readReady, writeReady func(fd uintptr) bool
	look                  func(fd uintptr)
	readErr, writeErr     error
	out                   []byte

	// within is the descriptor while a function given to raw.Read runs, which keeps
	// it from being closed; -1 otherwise.
	within int

	// readDue and writeDue are when what is under way has taken too long. The deadlines
	// that the connection has, readBy and writeBy, may be earlier: setting one costs more
	// than a small read, so that one which still runs is left alone, and set again only
	// where it fires too early (see renewed).
	readDue, writeDue time.Time
	readBy, writeBy   time.Time
	extend            func() time.Time // in place of readDue; nil: there is none
	woken             atomic.Bool      // a read is to end although it is not due
	interrupted       atomic.Bool
}

func (w *wire) open(c net.Conn) {
	w.conn, w.within = c, -1
	if w.raw = rawOf(c); w.raw != nil {
		w.socket = w.raw
		w.readReady, w.writeReady = w.tryRead, w.tryWrite
	} else if over, ok := c.(interface{ NetConn() net.Conn }); ok {
		w.records, _ = over.NetConn().(*records)
		w.socket, w.framed = rawOf(over.NetConn()), true
	}
	w.look = w.peekNow
}

// drained reports whether nothing is held of what was read from the socket.
func (w *wire) drained() bool {
	if !w.in.empty() {
		return false
	}
	return !w.framed || w.records != nil && w.records.drained(w.conn)
}

func rawOf(c net.Conn) syscall.RawConn {
	if s, ok := c.(syscall.Conn); ok {
		if raw, err := s.SyscallConn(); err == nil {
			return raw
		}
	}
	return nil
}

// readWithin bounds the reads that follow: each may wait d from now.
func (w *wire) readWithin(now time.Time, d time.Duration) {
	w.readDue = now.Add(d)
	if !w.readBy.After(now) || w.readBy.After(w.readDue) {
		w.readUntil(w.readDue)
	}
}

func (w *wire) readUntil(t time.Time) {
	w.readDue, w.readBy = t, t
	_ = w.conn.SetReadDeadline(t)
	w.stayInterrupted()
}

// writeWithin is readWithin for writes. A TLS connection of which a write has timed
// out cannot be written to again, so that its deadline is always the one that is due.
func (w *wire) writeWithin(now time.Time, d time.Duration) {
	w.writeDue = now.Add(d)
	if w.raw == nil || !w.writeBy.After(now) || w.writeBy.After(w.writeDue) {
		w.writeUntil(w.writeDue)
	}
}

func (w *wire) writeUntil(t time.Time) {
	w.writeBy = t
	_ = w.conn.SetWriteDeadline(t)
	w.stayInterrupted()
}

// renewed reports whether a read has timed out before it was due, and may be tried
// again: its deadline is the right one now.
func (w *wire) renewed(err error) bool {
	if !errors.Is(err, os.ErrDeadlineExceeded) || w.interrupted.Load() || w.woken.Load() {
		return false
	}
	due := w.readDue
	if w.extend != nil {
		due = w.extend()
	}
	if !due.After(time.Now()) {
		return false
	}
	w.readUntil(due)
	if w.woken.Load() { // just before: the deadline that was to end the read is gone
		_ = w.conn.SetReadDeadline(longAgo)
	}
	return true
}

// renewedWrite is renewed for writes.
func (w *wire) renewedWrite(err error) bool {
	if !errors.Is(err, os.ErrDeadlineExceeded) || w.interrupted.Load() || !w.writeDue.After(time.Now()) {
		return false
	}
	w.writeUntil(w.writeDue)
	return true
}

// wake ends a read that waits, from another goroutine, until woken is reset.
func (w *wire) wake() {
	w.woken.Store(true)
	_ = w.conn.SetReadDeadline(longAgo)
}

var longAgo = time.Unix(1, 0)

// interrupt ends reads and writes that wait, from another goroutine, and keeps
// the connection from being used again.
func (w *wire) interrupt() {
	w.interrupted.Store(true)
	w.stayInterrupted()
}

// stayInterrupted follows every setting of a deadline: an interrupt may have
// come just before, and would be forgotten.
func (w *wire) stayInterrupted() {
	if w.interrupted.Load() {
		_ = w.conn.SetDeadline(longAgo)
	}
}

// fill waits for bytes and adds them to in, which must not be full. Its error
// at the end of the stream is io.EOF.
func (w *wire) fill() error {
	if w.raw == nil {
		return w.fillOver()
	}
	for {
		err := w.raw.Read(w.readReady)
		switch {
		case err == nil:
			return w.readErr
		case !w.renewed(err):
			return fmt.Errorf("read: %w", err)
		}
	}
}

// fillOver is fill for what is no socket.
func (w *wire) fillOver() error {
	for {
		n, err := w.conn.Read(w.in.free())
		w.in.w += n
		if n > 0 {
			return nil
		}
		if !w.renewed(err) {
			return err
		}
	}
}

// tryRead tells whether the read is over; if not it is called again when there
// is something to read.
func (w *wire) tryRead(fd uintptr) bool {
	for {
		n, errno := readSocket(fd, w.in.free())
		switch {
		case errno == syscall.EINTR:
			continue
		case errno == syscall.EAGAIN:
			if w.in.empty() {
				w.in.release()
			}
			return false
		case errno != 0:
			w.readErr = errno
		case n == 0:
			w.readErr = io.EOF
		default:
			w.in.w += n
			w.readErr = nil
		}
		return true
	}
}

// write writes all of p.
func (w *wire) write(p []byte) error {
	if w.raw == nil {
		_, err := w.conn.Write(p)
		return err
	}
	w.out, w.writeErr = p, nil
	if w.within >= 0 && w.tryWrite(uintptr(w.within)) {
		w.out = nil
		return w.writeErr
	}
	defer func() { w.out = nil }()
	for {
		err := w.raw.Write(w.writeReady)
		switch {
		case err == nil:
			return w.writeErr
		case !w.renewedWrite(err):
			return fmt.Errorf("write: %w", err)
		}
	}
}

func (w *wire) tryWrite(fd uintptr) bool {
	for len(w.out) > 0 {
		n, errno := writeSocket(fd, w.out)
		switch errno {
		case 0:
			w.out = w.out[n:]
		case syscall.EINTR:
		case syscall.EAGAIN:
			return false
		default:
			w.writeErr = errno
			return true
		}
	}
	w.writeErr = nil
	return true
}

// peeked is what a look at a socket finds, as far as the kernel knows.
type peeked int

const (
	nothing peeked = iota
	something
	gone // closed or reset by the other side
)

// peek looks at the socket without reading from it. It may be called while
// another goroutine reads and writes, but from one goroutine at a time.
func (w *wire) peek() peeked {
	if w.socket == nil {
		return nothing
	}
	w.seen = gone // when the descriptor is closed already
	_ = w.socket.Control(w.look)
	return w.seen
}

func (w *wire) peekNow(fd uintptr) {
	if w.seen = peekSocket(fd); w.seen == something && w.framed && hasHungUp(fd) {
		w.seen = gone
	}
}
