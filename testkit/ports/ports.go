// Package ports finds ports for servers that are told where to listen.
//
// A port that the kernel picks (port 0) is free only while its listener is open: until a server that starts later
// takes it, any other process may get it for a listener or an outgoing connection of its own. Ports of this package
// are below the ranges that kernels pick from, and locked for the other processes that use this package.
package ports

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
)

// The range of ports. Linux picks from 32768 on (ip_local_port_range), macOS and Windows from 49152 on.
const first, last = 10_000, 32_767

var reserved struct {
	sync.Mutex
	locks *os.File // byte N is locked for port N
	taken map[int]bool
}

// Reserve returns a port of loopback that nothing listens on. It isn't given out again before this process ends.
func Reserve() (int, error) {
	r := &reserved
	r.Lock()
	defer r.Unlock()
	if r.locks == nil {
		name := filepath.Join(os.TempDir(), "postern-test-ports-"+strconv.Itoa(os.Getuid()))
		file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return 0, fmt.Errorf("reserve a port: %w", err)
		}
		r.locks, r.taken = file, map[int]bool{}
	}
	for range 1000 {
		port := first + rand.IntN(last-first+1)
		if r.taken[port] {
			continue
		}
		locked, err := lock(r.locks, port)
		if err != nil {
			return 0, fmt.Errorf("reserve a port: %w", err)
		}
		if !locked {
			continue
		}
		r.taken[port] = true // even if it's in use: unlocking and trying again later isn't worth it
		if free(port) {
			return port, nil
		}
	}
	return 0, errors.New("reserve a port: none of 1,000 ports is free")
}

// lock reports whether no other process had locked the port.
func lock(file *os.File, port int) (bool, error) {
	err := syscall.FcntlFlock(file.Fd(), syscall.F_SETLK, &syscall.Flock_t{
		Type: syscall.F_WRLCK, Whence: io.SeekStart, Start: int64(port), Len: 1,
	})
	if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES) {
		return false, nil
	}
	return err == nil, err
}

func free(port int) bool {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	return l.Close() == nil
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
