package engine

import (
	"net"
	"sync"
)

// Handover is the listener of the fallback. It accepts the connections that the engine hands over. Reading from them
// first returns the bytes that the engine has already read.
type Handover struct {
	addr   net.Addr
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// NewHandover returns a listener with the address addr.
func NewHandover(addr net.Addr) *Handover {
	return &Handover{addr: addr, conns: make(chan net.Conn), closed: make(chan struct{})}
}

// Accept waits for a connection. Its error after Close is net.ErrClosed.
func (h *Handover) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept. Connections that are handed over later are closed.
func (h *Handover) Close() error {
	h.once.Do(func() { close(h.closed) })
	return nil
}

// Addr returns the address of the engine's own listener.
func (h *Handover) Addr() net.Addr { return h.addr }

// Give hands a connection over.
func (h *Handover) Give(c net.Conn) {
	select {
	case h.conns <- c:
	case <-h.closed:
		_ = c.Close()
	}
}

// replayed is a connection whose first bytes, early, were read before.
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

// NetConn returns the underlying connection.
func (r *replayed) NetConn() net.Conn { return r.Conn }

// CloseWrite half-closes the connection, so that the last response arrives.
func (r *replayed) CloseWrite() error {
	if half, ok := r.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
