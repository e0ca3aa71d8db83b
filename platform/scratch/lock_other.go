//go:build !unix

package scratch

import (
	"errors"
	"os"
)

// hold does nothing, because this system has no flock: the age of a file protects it.
func hold(*os.File) bool { return true }

// place closes the file first: Windows renames no open file.
func place(file *os.File, path string) error {
	return errors.Join(file.Close(), os.Rename(file.Name(), path))
}

// SyncDir does nothing, because Windows refuses to flush a directory (FlushFileBuffers requires write access).
func SyncDir(string) error { return nil }

// removeAbandoned removes a file or directory that is old.
func removeAbandoned(path string) (bool, error) {
	if !old(path) {
		return false, nil
	}
	err := os.RemoveAll(path)
	return err == nil, err
}
