package engine

import (
	"net"
	"sync"
)

// Handover is the listener of the fallback: what it accepts are connections
// that the engine has begun to read, which read as if it had not.
type Handover struct {
	addr   net.Addr
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// NewHandover makes a listener that says it listens at addr.
func NewHandover(addr net.Addr) *Handover {
	return &Handover{addr: addr, conns: make(chan net.Conn), closed: make(chan struct{})}
}

// Accept waits for a connection; its error after Close is net.ErrClosed.
func (h *Handover) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept. Connections that come later are closed.
func (h *Handover) Close() error {
	h.once.Do(func() { close(h.closed) })
	return nil
}

// Addr is the address of the engine's own listener.
func (h *Handover) Addr() net.Addr { return h.addr }

func (h *Handover) give(c net.Conn) {
	select {
	case h.conns <- c:
	case <-h.closed:
		_ = c.Close()
	}
}

// replayed is a connection of which some bytes have been read already.
type replayed struct {
	net.Conn
	early []byte
}

func (r *replayed) Read(p []byte) (int, error) {
	if len(r.early) > 0 {
		n := copy(p, r.early)
		if r.early = r.early[n:]; len(r.early) == 0 {
			r.early = nil
		}
		return n, nil
	}
	return r.Conn.Read(p)
}

// NetConn is the connection itself.
func (r *replayed) NetConn() net.Conn { return r.Conn }

// CloseWrite half-closes, so that a last answer is not reset away.
func (r *replayed) CloseWrite() error {
	if half, ok := r.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
