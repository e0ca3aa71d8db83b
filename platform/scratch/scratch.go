// Package scratch creates temporary files and directories that outlive a killed process only until the next Sweep.
//
// It owns their names, and how a file in use is distinguished from an abandoned one: a process holds a lock on each of
// its own, which the kernel releases when the process ends. Callers decide which directories are swept, when, and who
// is notified.
package scratch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// prefix is that of all names. Nothing else may begin with it.
const prefix = ".postern-tmp-"

// abandonedAfter is the age of an abandoned file where the file system has no locks. No command
// writes to one for so long.
const abandonedAfter = 24 * time.Hour

// File creates a temporary file in dir, "" for the system's directory, that only its owner can read. Place or Discard
// ends it.
func File(dir string) (*os.File, error) {
	for {
		file, err := os.CreateTemp(dir, prefix)
		if err != nil {
			return nil, err
		}
		if hold(file) {
			return file, nil
		}
		Discard(file) // a Sweep was faster
	}
}

// Place writes a temporary file to disk, closes it and gives it its name at path, where it replaces another file.
// After an error there is no temporary file.
func Place(file *os.File, path string) error {
	err := file.Sync()
	if err == nil {
		err = place(file, path)
	}
	if err != nil {
		Discard(file)
	}
	return err
}

// Discard closes and removes a temporary file.
func Discard(file *os.File) {
	_ = os.Remove(file.Name())
	_ = file.Close()
	_ = os.Remove(file.Name()) // for systems that remove no open file
}

// Dir creates a temporary directory in parent, "" for the system's directory, that only its owner can read. remove
// removes it.
func Dir(parent string) (path string, remove func() error, err error) {
	for {
		if path, err = os.MkdirTemp(parent, prefix); err != nil {
			return "", nil, err
		}
		dir, err := os.Open(path)
		if err != nil {
			return "", nil, errors.Join(err, os.RemoveAll(path))
		}
		if hold(dir) {
			return path, func() error { return errors.Join(os.RemoveAll(path), dir.Close()) }, nil
		}
		_ = dir.Close()
		_ = os.RemoveAll(path) // a Sweep was faster
	}
}

// Sweep removes what killed processes left in dir, "" for the system's directory, and returns the paths of that.
func Sweep(dir string) (removed []string, err error) {
	if dir == "" {
		dir = os.TempDir()
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), prefix) || !entry.IsDir() && !entry.Type().IsRegular() {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		gone, failed := removeAbandoned(path)
		if gone {
			removed = append(removed, path)
		}
		// The system's directory may have those of other users.
		if failed != nil && !errors.Is(failed, fs.ErrNotExist) && !errors.Is(failed, fs.ErrPermission) {
			err = errors.Join(err, failed)
		}
	}
	return removed, err
}

// old reports whether a file or directory is so old that it must be abandoned.
func old(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && time.Since(info.ModTime()) > abandonedAfter
}
