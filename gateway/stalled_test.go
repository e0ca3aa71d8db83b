package gateway_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"postern/core/snapshot"
	"postern/gateway"
	"postern/testkit"
)

// stalledConns are connections whose other ends stop reading: each write waits for Close then.
type stalledConns struct {
	mu    sync.Mutex
	conns []*stalledConn
}

type stalledConn struct {
	net.Conn
	full   chan struct{}
	closed chan struct{}
	once   sync.Once
}

func (d *stalledConns) add(c net.Conn) net.Conn {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := &stalledConn{Conn: c, full: make(chan struct{}), closed: make(chan struct{})}
	d.conns = append(d.conns, out)
	return out
}

func (d *stalledConn) Write(p []byte) (int, error) {
	select {
	case <-d.full:
		<-d.closed
		return 0, net.ErrClosed
	default:
		return d.Conn.Write(p)
	}
}

func (d *stalledConn) Close() error {
	d.once.Do(func() { close(d.closed) })
	return d.Conn.Close()
}

// accepting is a listener of connections in stalledConns.
type accepting struct {
	net.Listener
	stalledConns *stalledConns
}

func (a accepting) Accept() (net.Conn, error) {
	c, err := a.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return a.stalledConns.add(c), nil
}

// stopReading lets the other ends read no more, and returns the check that each connection is
// closed nevertheless.
func (d *stalledConns) stopReading(t *testing.T) (wantClosed func(end string)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	conns := d.conns
	for _, conn := range conns {
		close(conn.full)
		t.Cleanup(func() { _ = conn.Close() })
	}
	return func(end string) {
		t.Helper()
		for _, conn := range conns {
			within(t, "the end of the connection to the "+end, conn.closed)
		}
	}
}

// The alert that ends TLS cannot be written to an end that does not read: a call that is
// cut off does not wait for that.
func TestTLS_unreadAlert(t *testing.T) {
	pair := newPair(t)
	target := secureUpstream(t, pair.server, func(conn net.Conn, from *bufio.Reader) {
		head, err := readHead(from)
		switch {
		case err != nil:
		case strings.Contains(head, "/ws "):
			_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\n"+
				"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
			_, _ = io.Copy(io.Discard, from)
		default:
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
			_, _ = io.Copy(io.Discard, from)
		}
	})
	for name, begin := range testkit.ByName(map[string]func(*lasting){
		"tunnel": func(l *lasting) { l.tunneled("X-API-Key: " + l.key) },
		"answer": func(l *lasting) { l.stream("GET", "/slow", "X-API-Key: "+l.key) },
	}) {
		t.Run(name, func(t *testing.T) {
			callers, upstreams := &stalledConns{}, &stalledConns{}
			l := newLasting(t, overTLS(pair), withTarget(target), func(r *rig, o *gateway.Options) {
				o.UpstreamTLS = pair.client
				r.listener = func(l net.Listener) net.Listener { return accepting{l, callers} }
				dial := o.Dial
				o.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
					c, err := dial(ctx, network, address)
					if err != nil {
						return nil, err
					}
					return upstreams.add(c), nil
				}
			})
			begin(l)
			wantCaller, wantUpstream := callers.stopReading(t), upstreams.stopReading(t)
			l.state(snapshot.KeyRevoked)
			wantCaller("caller")
			wantUpstream("upstream")
		})
	}
}
