package models

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// errSilent is deliberately not a timeout in the sense of net.Error: the driver would keep using the connection.
var errSilent = errors.New("the connection to the database has gone silent")

// silentFor is how long a connection must have been without a byte to be dropped
// together with one that was found dead.
const silentFor = 1500 * time.Millisecond

// wires are the open network connections to one database.
type wires struct {
	mu   sync.Mutex
	open map[*wire]struct{}
}

func newWires() *wires { return &wires{open: map[*wire]struct{}{}} }

func (w *wires) add(conn net.Conn, l limits) *wire {
	now := time.Now()
	c := &wire{Conn: conn, all: w, limits: l, opened: now, heard: now}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open[c] = struct{}{}
	return c
}

func (w *wires) remove(c *wire) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.open, c)
}

// heardSince reports whether a connection that was open before a time has received a byte after it.
func (w *wires) heardSince(at time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.open {
		if c.opened.Before(at) && !c.silentSince(at) {
			return true
		}
	}
	return false
}

// dropSilent closes every connection that hasn't received a byte recently. Idle ones are replaced at their next use; on
// the others, callers would wait for nothing.
func (w *wires) dropSilent() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.open {
		if c.silentSince(time.Now().Add(-silentFor)) {
			_ = c.cut() // its user finds it closed
		}
	}
}

// wire is a network connection on which every read has a deadline: the driver
// reads only while the server owes it an answer. A connection that is silent for
// longer is half open, as when a firewall forgot it or the server's machine died,
// and the kernel may take many minutes to say so.
type wire struct {
	net.Conn
	all    *wires
	limits limits
	opened time.Time
	closed sync.Once

	mu    sync.Mutex
	until time.Time // the driver's own deadline, which ends a canceled query
	heard time.Time // when the last byte came
}

// Read implements net.Conn.
func (c *wire) Read(b []byte) (int, error) {
	if err := c.arm(); err != nil {
		return 0, err
	}
	n, err := c.Conn.Read(b)
	c.mu.Lock()
	defer c.mu.Unlock()
	if n > 0 {
		c.heard = time.Now()
	}
	if errors.Is(err, os.ErrDeadlineExceeded) && (c.until.IsZero() || time.Now().Before(c.until)) {
		go c.dead()
		return n, errSilent
	}
	return n, err
}

// arm sets the earlier of both deadlines.
func (c *wire) arm() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	until := c.until
	if c.limits.silence > 0 {
		if latest := time.Now().Add(c.limits.silence); until.IsZero() || latest.Before(until) {
			until = latest
		}
	}
	return c.Conn.SetReadDeadline(until)
}

// dead also closes other silent connections: the reason is rarely in one connection.
func (c *wire) dead() {
	_ = c.cut()
	if c.limits.dropsOthers {
		c.all.dropSilent()
	}
}

func (c *wire) silentSince(at time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.heard.Before(at)
}

// SetDeadline implements net.Conn. The driver sets one in the past to interrupt a read in progress.
func (c *wire) SetDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until = t
	return c.Conn.SetDeadline(t)
}

// SetReadDeadline implements net.Conn.
func (c *wire) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until = t
	return c.Conn.SetReadDeadline(t)
}

// Close implements net.Conn.
func (c *wire) Close() error {
	c.all.remove(c)
	return c.cut()
}

// cut closes the connection once: closing a dropped connection isn't an error.
func (c *wire) cut() (err error) {
	c.closed.Do(func() { err = c.Conn.Close() })
	return err
}
