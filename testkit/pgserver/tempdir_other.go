//go:build unix && !linux

package pgserver

// tempDir returns "": the server's data is in the system's directory for temporary files.
func tempDir() string { return "" }
