package gateway

import (
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"postern/policy"
)

// admission is a listener that takes no more connections than it may, in all and
// from one address. Those beyond are closed as soon as they are accepted: left in
// the kernel's queue, they would keep everybody else waiting behind them.
type admission struct {
	net.Listener
	max, perAddress int
	exempt          func(netip.Addr) bool          // whose connections stand for many callers'
	makeRoom        func()                         // asks one that waits for a request to end
	full            func(what string, before said) // told of those turned away, once in a while

	told warnings

	mu   sync.Mutex
	open int
	from map[netip.Prefix]int
}

// tellEvery bounds how often a flood is worth a line of the log.
const tellEvery = 10 * time.Second

// Accept returns the next connection that may come in.
func (a *admission) Accept() (net.Conn, error) {
	for {
		conn, err := a.Listener.Accept()
		if err != nil {
			return nil, err
		}
		network, _ := policy.Source(conn.RemoteAddr().String())
		if why := a.enter(network); why != "" {
			a.turnAway(conn, why)
			continue
		}
		leave := &leave{done: func() { a.leave(network) }}
		if tcp, ok := conn.(*net.TCPConn); ok {
			return &admittedTCP{tcp, leave}, nil
		}
		return &admitted{conn, leave}, nil
	}
}

// enter counts a connection in, or says why it may not come in.
func (a *admission) enter(network netip.Prefix) (why string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.from == nil {
		a.from = map[netip.Prefix]int{}
	}
	// The last sixteenth is for those who come while others only wait.
	if a.open >= a.max-a.max/16 {
		a.makeRoom()
	}
	switch {
	case a.open >= a.max:
		return "as many connections as there may be"
	case a.from[network] >= a.perAddress && network.IsValid() && !a.exempt(network.Addr()):
		return "as many connections from one address as there may be"
	}
	a.open++
	a.from[network]++
	return ""
}

func (a *admission) leave(network netip.Prefix) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open--
	if a.from[network]--; a.from[network] == 0 {
		delete(a.from, network)
	}
}

// turnAway resets the connection, so that the kernel keeps nothing of it either.
func (a *admission) turnAway(conn net.Conn, why string) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
	if before, due := a.told.due(why, tellEvery, time.Now()); due {
		a.full(why, before)
	}
}

// leave counts a connection out, once.
type leave struct {
	over atomic.Bool
	done func()
}

func (l *leave) once() {
	if !l.over.Swap(true) {
		l.done()
	}
}

// admittedTCP keeps all that a socket can do: the engine works on the descriptor.
type admittedTCP struct {
	*net.TCPConn
	leave *leave
}

// Close closes the connection and makes room for another.
func (c *admittedTCP) Close() error {
	defer c.leave.once()
	return c.TCPConn.Close()
}

type admitted struct {
	net.Conn
	leave *leave
}

// Close closes the connection and makes room for another.
func (c *admitted) Close() error {
	defer c.leave.once()
	return c.Conn.Close()
}
