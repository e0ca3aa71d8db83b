package engine

import "golang.org/x/sys/unix"

// hasHungUp reports whether the other side has ended its stream, even if there are bytes to
// read before the end (poll(2), POLLRDHUP).
func hasHungUp(fd uintptr) bool {
	fds := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
	n, err := unix.Poll(fds[:], 0)
	return err == nil && n > 0
}
