//go:build unix && !linux

package nice

import "syscall"

// Lower gives this process the lowest priority.
func Lower() error { return syscall.Setpriority(syscall.PRIO_PROCESS, 0, lowest) }
