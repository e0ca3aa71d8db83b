//go:build !linux

package models

import (
	"syscall"
	"time"
)

// userTimeout has no portable equivalent; keep-alive probes and the deadlines of
// each read remain.
func userTimeout(time.Duration) func(network, address string, c syscall.RawConn) error { return nil }
