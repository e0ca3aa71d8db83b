//go:build unix && !linux

package pgserver

import "syscall"

// EndWithParent can do nothing here: only Linux ties a process to its parent.
func EndWithParent(*syscall.SysProcAttr) {}
