package main

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"
)

// oneWay is how long the relay holds all that it passes on, in each direction.
const oneWay = 60 * time.Millisecond

// relay passes connections on to a server as if it were far away: what either side sends, and the end of a connection,
// arrives oneWay later.
type relay struct {
	listener net.Listener
	to       string // host:port
}

func startRelay(to string) (*relay, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the relay: %w", err)
	}
	r := &relay{listener: l, to: to}
	go r.accept()
	return r, nil
}

func (r *relay) addr() string { return r.listener.Addr().String() }

// stop lets no more connections in. Those that are open end with either side.
func (r *relay) stop() { _ = r.listener.Close() }

func (r *relay) accept() {
	for {
		near, err := r.listener.Accept()
		if err != nil {
			return
		}
		go r.carry(near.(*net.TCPConn))
	}
}

func (r *relay) carry(near *net.TCPConn) {
	defer func() { _ = near.Close() }()
	time.Sleep(oneWay)
	conn, err := new(net.Dialer).DialContext(context.Background(), "tcp", r.to)
	if err != nil {
		return
	}
	far := conn.(*net.TCPConn)
	defer func() { _ = far.Close() }()
	var both sync.WaitGroup
	both.Go(func() { delay(far, near) })
	both.Go(func() { delay(near, far) })
	both.Wait()
}

// delayed is what was read from a connection, and when it is passed on.
type delayed struct {
	data []byte
	at   time.Time
}

// delay passes on what comes from one side. The other side sees its end, and a reset if it sends more: a server that
// has closed a connection doesn't read from it either.
func delay(to, from *net.TCPConn) {
	line := make(chan delayed, 1024)
	go func() {
		defer close(line)
		for {
			buffer := make([]byte, 4<<10)
			n, err := from.Read(buffer)
			if n > 0 {
				line <- delayed{buffer[:n], time.Now().Add(oneWay)}
			}
			if err != nil {
				line <- delayed{nil, time.Now().Add(oneWay)}
				return
			}
		}
	}()
	for next := range line {
		time.Sleep(time.Until(next.at))
		if next.data == nil {
			_ = to.CloseWrite()
			break
		}
		if _, err := to.Write(next.data); err != nil {
			// Its owner closed it and doesn't read. Closing with unread bytes makes the kernel send a reset.
			_ = from.Close()
			break
		}
	}
	for range line { // whatever the reader still has
	}
}
