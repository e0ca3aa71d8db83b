//go:build unix && !linux

package main

// tempDir returns "": the server's data is in the system's directory for temporary files.
func tempDir() string { return "" }
