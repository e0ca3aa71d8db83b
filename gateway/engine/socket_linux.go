//go:build linux && (amd64 || arm64) && !race

package engine

import (
	"syscall"
	"unsafe"
)

// The sockets are non-blocking, so that these calls return at once and need
// not tell the scheduler that they are made. They are those for sockets alone: read
// and write go through what files have besides, such as a position.

func readSocket(fd uintptr, p []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(
		syscall.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), 0, 0, 0,
	) //nolint:gosec // the kernel wants the address; p lives through the call
	return int(n), errno
}

func writeSocket(fd uintptr, p []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(
		syscall.SYS_SENDTO, fd, uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)),
		syscall.MSG_NOSIGNAL, 0, 0,
	) //nolint:gosec // the kernel wants the address; p lives through the call
	return int(n), errno
}

func peekSocket(fd uintptr) peeked {
	var b [1]byte
	for {
		n, _, errno := syscall.RawSyscall6(
			syscall.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(&b)), 1, syscall.MSG_PEEK|syscall.MSG_DONTWAIT,
			0, 0,
		) //nolint:gosec // the kernel wants the address; b lives through the call
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
