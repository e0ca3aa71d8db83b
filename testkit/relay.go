package testkit

import (
	"context"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
)

// Relay passes TCP connections on to a server, until it is told to let them go
// silent: then they stay open and carry nothing, as when a firewall has forgotten
// them or the server's machine has died.
type Relay struct {
	listener net.Listener
	target   string
	all      sync.WaitGroup

	mu      sync.Mutex
	carried []*carried
	hanging bool // new connections are silent from the start
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
		t.Fatal("the address is no URL") // not repeated: it holds a password
	}
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &Relay{listener: listener, target: u.Host}
	r.all.Go(r.accept)
	t.Cleanup(func() {
		_ = listener.Close()
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
		t.Fatal("the address is no URL")
	}
	u.Host = r.listener.Addr().String()
	return u.String()
}

// Silence makes the connections that are open now carry nothing any more. New ones
// work.
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

// Refuse cuts the open connections and accepts no more.
func (r *Relay) Refuse() {
	_ = r.listener.Close()
	r.Cut()
}

// Resume lets new connections work again.
func (r *Relay) Resume() { r.setHanging(false) }

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
