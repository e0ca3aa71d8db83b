//go:build !linux

package engine

// hasHungUp is not known here: the end shows when the bytes before it are read.
func hasHungUp(uintptr) bool { return false }
