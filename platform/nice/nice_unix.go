//go:build unix && !linux

package nice

import "syscall"

// Lower gives this process a low priority.
func Lower() error { return syscall.Setpriority(syscall.PRIO_PROCESS, 0, low) }
