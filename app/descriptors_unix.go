//go:build unix

package app

import "syscall"

// descriptors returns how many files and sockets this process may have open, 0 if that is not
// known.
func descriptors() uint64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return uint64(limit.Cur) //nolint:unconvert // some systems have it signed
}
