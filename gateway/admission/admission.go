// Package admission limits the connections of a listener, in total and from one address, so
// that no listener can use up the descriptors of the process.
//
// It owns the counting and its log lines. It leaves the limits and the protocol on the
// connections to the caller that creates the Listener.
package admission

import (
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"postern/core/policy"
)

// Listener limits the connections that it accepts. Connections over a limit are accepted and closed at once: left in
// the kernel's queue, they would delay all others after them. Every field except MakeRoom must be set.
type Listener struct {
	net.Listener

	Name       string // of the listener, for the log
	Max        int
	PerAddress int                   // for IPv6, from one /64
	Exempt     func(netip.Addr) bool // reports whether PerAddress does not apply, as for trusted proxies
	MakeRoom   func()                // ends a connection that waits for a request; it must not block
	Log        *slog.Logger

	mu   sync.Mutex
	open int
	from map[netip.Prefix]int

	notices notices
}

// Accept returns the next connection within the limits.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			l.report(err)
			return nil, err
		}
		network, _ := policy.Source(conn.RemoteAddr().String())
		if why := l.enter(network); why != "" {
			l.turnAway(conn, why)
			continue
		}
		leave := &leave{done: func() { l.leave(network) }}
		if tcp, ok := conn.(*net.TCPConn); ok {
			return &admittedTCP{tcp, leave}, nil
		}
		return &admitted{conn, leave}, nil
	}
}

// report logs temporary errors, such as a lack of descriptors: servers retry after them
// silently.
func (l *Listener) report(err error) {
	temporary, ok := err.(interface{ Temporary() bool }) // the listener wraps no errors
	if !ok || !temporary.Temporary() {
		return
	}
	if missed, due := l.notices.due("accept", time.Now()); due {
		l.Log.Error("could not accept connections", "listener", l.Name, "error", err, "suppressed", missed)
	}
}

// enter counts a connection, or returns why it is over a limit.
func (l *Listener) enter(network netip.Prefix) (why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.from == nil {
		l.from = map[netip.Prefix]int{}
	}
	// Idle connections are closed when only a sixteenth is free.
	if l.MakeRoom != nil && l.open >= l.Max-l.Max/16 {
		l.MakeRoom()
	}
	switch {
	case l.open >= l.Max:
		return "the connection limit is reached"
	case l.from[network] >= l.PerAddress && network.IsValid() && !l.Exempt(network.Addr()):
		return "the connection limit per address is reached"
	}
	l.open++
	l.from[network]++
	return ""
}

func (l *Listener) leave(network netip.Prefix) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
	if l.from[network]--; l.from[network] == 0 {
		delete(l.from, network)
	}
}

// Open returns how many connections are open.
func (l *Listener) Open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open
}

// turnAway resets the connection, so that the kernel keeps no state of it either.
func (l *Listener) turnAway(conn net.Conn, why string) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
	if missed, due := l.notices.due(why, time.Now()); due {
		l.Log.Warn("connections refused", "listener", l.Name, "reason", why, "suppressed", missed)
	}
}

// leave ends the count of a connection, once.
type leave struct {
	over atomic.Bool
	done func()
}

func (l *leave) once() {
	if !l.over.Swap(true) {
		l.done()
	}
}

// admittedTCP keeps the methods of a socket: the engine works on its descriptor.
type admittedTCP struct {
	*net.TCPConn
	leave *leave
}

// Close closes the connection and ends its count.
func (c *admittedTCP) Close() error {
	defer c.leave.once()
	return c.TCPConn.Close()
}

type admitted struct {
	net.Conn
	leave *leave
}

// Close closes the connection and ends its count.
func (c *admitted) Close() error {
	defer c.leave.once()
	return c.Conn.Close()
}

// noticeEvery is the shortest time between two log lines of one kind.
const noticeEvery = 10 * time.Second

// notices bounds how often each of a few fixed texts is logged.
type notices struct {
	mu     sync.Mutex
	last   map[string]time.Time
	missed map[string]int
}

// due reports whether a text may be logged now, and how often it was suppressed since it was.
func (n *notices) due(text string, now time.Time) (missed int, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.last == nil {
		n.last, n.missed = map[string]time.Time{}, map[string]int{}
	}
	if last, seen := n.last[text]; seen && now.Sub(last) < noticeEvery {
		n.missed[text]++
		return 0, false
	}
	missed, n.missed[text] = n.missed[text], 0
	n.last[text] = now
	return missed, true
}
