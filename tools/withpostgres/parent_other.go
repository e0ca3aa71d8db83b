//go:build unix && !linux

package main

import "syscall"

// endWithParent can do nothing here: only Linux ties a process to its parent.
func endWithParent(*syscall.SysProcAttr) {}
