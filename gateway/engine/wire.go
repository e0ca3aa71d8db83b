package engine

import (
	"fmt"
	"io"
	"net"
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

	socket syscall.RawConn // to look at: of TLS the one below
	framed bool            // a goodbye comes before the end of the stream, as in TLS
	seen   peeked

	// What the function given to raw works on. The functions are made once:
	// a closure for every read would be an allocation for every read.
	readReady, writeReady func(fd uintptr) bool
	look                  func(fd uintptr)
	readErr, writeErr     error
	out                   []byte

	// within is the descriptor while a function given to raw.Read runs, which keeps
	// it from being closed; -1 otherwise.
	within int

	// Deadlines as they are set. They are renewed only when they have lost an
	// eighth of their time, because setting one costs more than a small read.
	readBy, writeBy time.Time
	interrupted     atomic.Bool
}

func (w *wire) open(c net.Conn) {
	w.conn, w.within = c, -1
	if w.raw = rawOf(c); w.raw != nil {
		w.socket = w.raw
		w.readReady, w.writeReady = w.tryRead, w.tryWrite
	} else if over, ok := c.(interface{ NetConn() net.Conn }); ok {
		w.socket, w.framed = rawOf(over.NetConn()), true
	}
	w.look = w.peekNow
}

func rawOf(c net.Conn) syscall.RawConn {
	if s, ok := c.(syscall.Conn); ok {
		if raw, err := s.SyscallConn(); err == nil {
			return raw
		}
	}
	return nil
}

// readWithin bounds the reads that follow: each may wait d, and at most an
// eighth longer.
func (w *wire) readWithin(now time.Time, d time.Duration) {
	if left := w.readBy.Sub(now); left < d || left > d+d/8 {
		w.readUntil(now.Add(d + d/8))
	}
}

func (w *wire) readUntil(t time.Time) {
	w.readBy = t
	_ = w.conn.SetReadDeadline(t)
	w.stayInterrupted()
}

// writeWithin is readWithin for writes.
func (w *wire) writeWithin(now time.Time, d time.Duration) {
	if left := w.writeBy.Sub(now); left < d || left > d+d/8 {
		w.writeBy = now.Add(d + d/8)
		_ = w.conn.SetWriteDeadline(w.writeBy)
		w.stayInterrupted()
	}
}

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
		_ = w.conn.SetDeadline(time.Unix(1, 0))
	}
}

// fill waits for bytes and adds them to in, which must not be full. Its error
// at the end of the stream is io.EOF.
func (w *wire) fill() error {
	if w.raw == nil {
		n, err := w.conn.Read(w.in.free())
		w.in.w += n
		if n > 0 {
			return nil
		}
		return err
	}
	if err := w.raw.Read(w.readReady); err != nil {
		return fmt.Errorf("read: %w", err)
	}
	return w.readErr
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
	err := w.raw.Write(w.writeReady)
	w.out = nil
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return w.writeErr
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
