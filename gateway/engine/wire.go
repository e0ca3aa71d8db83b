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

// wire reads and writes one connection. On a socket it makes its own system calls inside the
// runtime's poller: reads take memory only when there is something to read, and the calls,
// which never block, skip the scheduler's bookkeeping.
type wire struct {
	conn net.Conn
	raw  syscall.RawConn // nil if conn is not a socket, as for TLS, and without ownCalls
	in   inbox

	socket  syscall.RawConn // to peek at: raw, or the socket below TLS
	framed  bool            // the stream ends with a message, as in TLS
	records *records        // below TLS; nil if the connection was not created by Secure
	seen    peeked

	// The functions passed to raw, and their state. The functions are created once: a
	// closure would be an allocation for every read.
	readReady, writeReady func(fd uintptr) bool
	look                  func(fd uintptr)
	readErr, writeErr     error
	out                   []byte
	waited                bool // the last write may have waited for the other side
	wrote                 bool // something may have been written

	// within is the descriptor while a function passed to raw.Read runs, which keeps the
	// descriptor open; -1 otherwise.
	within int

	// readDue and writeDue are when the current read or write times out. The connection's
	// deadlines, readBy and writeBy, may be earlier: setting one costs more than a small
	// read, so a deadline that still runs is left, and set again only if it fires too early
	// (see renewed).
	readDue, writeDue time.Time
	readBy, writeBy   time.Time
	extend            func() time.Time // returns readDue, if it changes during the read; else nil
	woken             atomic.Bool      // wake was called: the read ends although it is not due
	interrupted       atomic.Bool
}

func (w *wire) open(c net.Conn) {
	w.conn, w.within = c, -1
	if socket := rawOf(c); socket != nil {
		w.socket = socket
		if ownCalls {
			w.raw, w.readReady, w.writeReady = socket, w.tryRead, w.tryWrite
		}
	} else if over, ok := c.(interface{ NetConn() net.Conn }); ok {
		w.records, _ = over.NetConn().(*records)
		w.socket, w.framed = rawOf(over.NetConn()), true
	}
	w.look = w.peekNow
}

// drained reports whether no bytes are held that were read from the socket.
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

// readWithin sets the time limit of the next reads to d from now.
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

// writeWithin is readWithin for writes. A TLS connection cannot be written to after a write has
// timed out, so its deadline is always set to the one that is due.
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

// renewed reports whether a read timed out before it was due. Then it has set the deadline to
// the due time, and the read may be tried again.
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
	if w.woken.Load() { // just now: readUntil replaced the deadline that wake had set
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

// wake ends a waiting read from another goroutine, and any read until woken is reset.
func (w *wire) wake() {
	w.woken.Store(true)
	_ = w.conn.SetReadDeadline(longAgo)
}

var longAgo = time.Unix(1, 0)

// interrupt ends waiting reads and writes from another goroutine, and keeps the connection from
// being used again.
func (w *wire) interrupt() {
	w.interrupted.Store(true)
	w.stayInterrupted()
}

// stayInterrupted is called after each setting of a deadline, which may have overwritten that
// of an interrupt.
func (w *wire) stayInterrupted() {
	if w.interrupted.Load() {
		_ = w.conn.SetDeadline(longAgo)
	}
}

// fill waits for bytes and adds them to in, which must not be full. It returns io.EOF at the end
// of the stream.
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

// fillOver is fill by the connection's own method.
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

// tryRead reads once. It returns false if there is nothing to read; the poller calls it again
// when there is.
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
		w.waited, w.wrote = true, true
		_, err := w.conn.Write(p)
		return err
	}
	w.out, w.writeErr, w.waited = p, nil, false
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
			w.wrote = true
			w.out = w.out[n:]
		case syscall.EINTR:
		case syscall.EAGAIN:
			w.waited = true
			return false
		default:
			w.writeErr = errno
			return true
		}
	}
	w.writeErr = nil
	return true
}

// peeked is the result of peek.
type peeked int

const (
	nothing peeked = iota
	something
	gone // closed or reset by the other side
)

// peek looks at the socket without reading from it. It may be called while another goroutine
// reads and writes, but only by one goroutine at a time.
func (w *wire) peek() peeked {
	if w.socket == nil {
		return nothing
	}
	w.seen = gone // if the descriptor is closed already
	_ = w.socket.Control(w.look)
	return w.seen
}

func (w *wire) peekNow(fd uintptr) {
	if w.seen = peekSocket(fd); w.seen == something && w.framed && hasHungUp(fd) {
		w.seen = gone
	}
}
