package testkit

import (
	"context"
	"errors"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// Relay passes TCP connections on to a server, until it is told to let them go
// silent: then they stay open and carry nothing, as when a firewall has forgotten
// them or the server's machine has died.
type Relay struct {
	listener net.Listener
	target   string
	all      sync.WaitGroup

	mu       sync.Mutex
	carried  []*carried
	hanging  bool          // new connections are silent from the start
	dropping chan struct{} // none are accepted until it is closed; nil: all are
	waiting  []net.Conn    // fill the listener's queue in the meantime
}

type carried struct {
	near, far net.Conn
	silent    atomic.Bool
}

// NewRelay starts a relay to the server of a URL, such as a database's. It ends
// with the test.
func NewRelay(t testing.TB, to string) *Relay {
	t.Helper()
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal("the address isn't a URL") // not repeated: it holds a password
	}
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &Relay{listener: listener, target: u.Host}
	r.all.Go(r.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		r.Resume()
		r.Cut()
		r.all.Wait()
	})
	return r
}

// Through is the URL with the relay's address in place of the server's.
func (r *Relay) Through(t testing.TB, to string) string {
	t.Helper()
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal("the address isn't a URL")
	}
	u.Host = r.listener.Addr().String()
	return u.String()
}

// Silence stops all traffic on the connections that are open now. New ones work.
func (r *Relay) Silence() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.carried {
		c.silent.Store(true)
	}
}

// Hang silences the open connections and all that are opened until Resume.
func (r *Relay) Hang() {
	r.setHanging(true)
	r.Silence()
}

// HangNew silences all connections that are opened until Resume, and no others.
func (r *Relay) HangNew() { r.setHanging(true) }

// Drop silences the open connections and answers no packet of new ones until Resume,
// as a firewall does. Linux drops them while the queue of a listener is full.
func (r *Relay) Drop(t testing.TB) {
	t.Helper()
	r.Silence()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dropping = make(chan struct{})
	if err := setBacklog(r.listener, 0); err != nil {
		t.Fatal(err)
	}
	for {
		c, err := net.DialTimeout("tcp", r.listener.Addr().String(), droppedAfter)
		if err != nil {
			return
		}
		r.waiting = append(r.waiting, c)
	}
}

const (
	usualBacklog = 128

	// droppedAfter is when a connection over loopback counts as dropped.
	droppedAfter = 500 * time.Millisecond
)

func setBacklog(l net.Listener, backlog int) error {
	raw, err := l.(*net.TCPListener).SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) { failed = syscall.Listen(int(fd), backlog) })
	return errors.Join(err, failed)
}

// Refuse cuts the open connections and accepts no more.
func (r *Relay) Refuse() {
	_ = r.listener.Close()
	r.Cut()
}

// Resume lets new connections work again.
func (r *Relay) Resume() {
	r.setHanging(false)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dropping == nil {
		return
	}
	_ = setBacklog(r.listener, usualBacklog) // fails at the test's end, when it is closed
	for _, c := range r.waiting {
		_ = c.Close()
	}
	close(r.dropping)
	r.dropping, r.waiting = nil, nil
}

// held waits until the relay does not drop what comes.
func (r *Relay) held() {
	r.mu.Lock()
	dropping := r.dropping
	r.mu.Unlock()
	if dropping != nil {
		<-dropping
	}
}

func (r *Relay) setHanging(hanging bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hanging = hanging
}

// Cut closes all open connections.
func (r *Relay) Cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.carried {
		_, _ = c.near.Close(), c.far.Close()
	}
	r.carried = nil
}

func (r *Relay) accept() {
	for {
		near, err := r.listener.Accept()
		if err != nil {
			return
		}
		r.held()
		far, err := new(net.Dialer).DialContext(context.Background(), "tcp", r.target)
		if err != nil {
			_ = near.Close()
			continue
		}
		c := &carried{near: near, far: far}
		r.mu.Lock()
		c.silent.Store(r.hanging)
		r.carried = append(r.carried, c)
		r.mu.Unlock()
		r.all.Go(func() { c.carry(far, near) })
		r.all.Go(func() { c.carry(near, far) })
	}
}

// carry drops what arrives on a silent connection, and its end as well.
func (c *carried) carry(to, from net.Conn) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if c.silent.Load() {
			if err != nil {
				return
			}
			continue
		}
		if n > 0 {
			if _, failed := to.Write(buffer[:n]); failed != nil {
				err = failed
			}
		}
		if err != nil {
			_, _ = to.Close(), from.Close()
			return
		}
	}
}
