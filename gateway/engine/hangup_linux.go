package engine

import "golang.org/x/sys/unix"

// hasHungUp tells whether the other side has ended its stream, be there bytes
// before its end or not (poll(2), POLLRDHUP).
func hasHungUp(fd uintptr) bool {
	fds := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
	n, err := unix.Poll(fds[:], 0)
	return err == nil && n > 0
}
