package engine

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// ownCalls reports that a wire calls the system itself for a socket. Windows reports when a call has ended, not when
// one may begin, so here a wire uses the connection's own methods, as for TLS.
const ownCalls = false

func readSocket(uintptr, []byte) (int, syscall.Errno)  { return 0, syscall.EWINDOWS }
func writeSocket(uintptr, []byte) (int, syscall.Errno) { return 0, syscall.EWINDOWS }

var poll = windows.NewLazySystemDLL("ws2_32.dll").NewProc("WSAPoll")

// The events of WSAPoll (winsock2.h).
const (
	pollReadable = 0x0100                   // POLLRDNORM
	pollEnded    = 0x0001 | 0x0002 | 0x0004 // POLLERR, POLLHUP, POLLNVAL
)

func peekSocket(fd uintptr) peeked {
	state := struct {
		fd               uintptr
		events, happened int16
	}{fd: fd, events: pollReadable}
	n, _, _ := poll.Call(uintptr(unsafe.Pointer(&state)), 1, 0) //nolint:gosec // state stays alive during the call
	switch {
	case int32(n) < 0 || state.happened&pollEnded != 0:
		return gone
	case state.happened&pollReadable != 0:
		return something
	}
	return nothing
}
