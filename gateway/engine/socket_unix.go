//go:build unix && (!linux || race || !(amd64 || arm64))

package engine

import (
	"errors"
	"syscall"
)

// ownCalls reports that a wire calls the system itself for a socket.
const ownCalls = true

// These calls are portable, and the race detector understands them: it orders a read after
// the write of its bytes.

func readSocket(fd uintptr, p []byte) (int, syscall.Errno) {
	n, err := syscall.Read(int(fd), p)
	return n, errnoOf(err)
}

func writeSocket(fd uintptr, p []byte) (int, syscall.Errno) {
	n, err := syscall.Write(int(fd), p)
	return n, errnoOf(err)
}

func peekSocket(fd uintptr) peeked {
	var b [1]byte
	n, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK)
	switch {
	case errors.Is(err, syscall.EAGAIN):
		return nothing
	case err != nil || n == 0:
		return gone
	}
	return something
}

func errnoOf(err error) syscall.Errno {
	errno, ok := errors.AsType[syscall.Errno](err)
	if err != nil && !ok {
		return syscall.EIO
	}
	return errno
}
