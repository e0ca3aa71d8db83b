//go:build !linux || race || !(amd64 || arm64)

package engine

import (
	"errors"
	"syscall"
)

// The portable calls, and those that the race detector understands: it takes a
// read for later than the write it got its bytes from.

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
