//go:build linux && (amd64 || arm64) && !race

package engine

import (
	"syscall"
	"unsafe"
)

// ownCalls reports that a wire calls the system itself for a socket.
const ownCalls = true

// The sockets are non-blocking: these calls return at once, so the scheduler need not be told
// of them. recvfrom and sendto skip work that read and write do for files.

func readSocket(fd uintptr, p []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(
		syscall.SYS_RECVFROM, fd,
		uintptr(unsafe.Pointer(unsafe.SliceData(p))), //nolint:gosec // p stays alive during the call
		uintptr(len(p)), 0, 0, 0,
	)
	return int(n), errno
}

func writeSocket(fd uintptr, p []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(
		syscall.SYS_SENDTO, fd,
		uintptr(unsafe.Pointer(unsafe.SliceData(p))), //nolint:gosec // p stays alive during the call
		uintptr(len(p)), syscall.MSG_NOSIGNAL, 0, 0,
	)
	return int(n), errno
}

func peekSocket(fd uintptr) peeked {
	var b [1]byte
	for {
		n, _, errno := syscall.RawSyscall6(
			syscall.SYS_RECVFROM, fd,
			uintptr(unsafe.Pointer(&b)), //nolint:gosec // b stays alive during the call
			1, syscall.MSG_PEEK|syscall.MSG_DONTWAIT, 0, 0,
		)
		switch {
		case errno == syscall.EINTR:
			continue
		case errno == syscall.EAGAIN:
			return nothing
		case errno != 0 || n == 0:
			return gone
		}
		return something
	}
}
