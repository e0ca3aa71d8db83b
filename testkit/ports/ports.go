// Package ports finds ports for servers that are told where to listen.
//
// A port that the kernel picks (port 0) is free only while its listener is open: until a server that starts later
// takes it, the kernel may give it to any other process, for a listener or an outgoing connection. This package's ports
// are below the ranges that kernels pick from, and locked for the other processes that use this package: a UDP socket
// with the same number stays open until the process ends.
package ports

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"testing"
)

// The range of ports. Linux picks from 32768 on (ip_local_port_range), macOS and Windows from 49152 on.
const first, last = 10_000, 32_767

var locks struct {
	sync.Mutex
	held []net.PacketConn
}

// Reserve returns a port of loopback that nothing listens on. It isn't given out again before this process ends.
func Reserve() (int, error) {
	locks.Lock()
	defer locks.Unlock()
	var failed error
	for range 1000 {
		port := first + rand.IntN(last-first+1)
		lock, err := net.ListenPacket("udp", address(port))
		if err != nil {
			failed = err // most likely, another test has it
			continue
		}
		locks.held = append(locks.held, lock) // even if it's in use: unlocking and trying again later isn't worth it
		if failed = tryPort(port); failed == nil {
			return port, nil
		}
	}
	return 0, fmt.Errorf("reserve a port: none of 1,000 was free (%w)", failed)
}

// tryPort returns why no server can listen on a port.
func tryPort(port int) error {
	l, err := net.Listen("tcp", address(port))
	if err != nil {
		return err
	}
	return l.Close()
}

// Port returns a port as Reserve does, or fails the test.
func Port(t testing.TB) int {
	t.Helper()
	port, err := Reserve()
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// Address returns an address of loopback with a port of Reserve, or fails the test.
func Address(t testing.TB) string {
	t.Helper()
	return address(Port(t))
}

// ReserveAddress returns an address of loopback with a port of Reserve.
func ReserveAddress() (string, error) {
	port, err := Reserve()
	if err != nil {
		return "", err
	}
	return address(port), nil
}

func address(port int) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}
