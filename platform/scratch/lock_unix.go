//go:build unix

package scratch

import (
	"errors"
	"os"
	"syscall"
)

// hold locks a new file or directory until it is closed. It returns false if a Sweep holds it, or has removed it.
func hold(file *os.File) bool {
	if held, _ := lock(file); held { // without locks, its age protects it
		return false
	}
	ours, err := file.Stat()
	if err != nil {
		return true // the caller's use of it fails too, and says why
	}
	there, err := os.Lstat(file.Name())
	return err == nil && os.SameFile(ours, there)
}

// lock takes the lock of a file. It returns true if another process holds it, and false if the
// file system has no locks.
func lock(file *os.File) (held bool, err error) {
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	return errors.Is(err, syscall.EWOULDBLOCK), err
}

// place renames the file while it is locked: a Sweep may remove one that is not.
func place(file *os.File, path string) error {
	if err := os.Rename(file.Name(), path); err != nil {
		return err
	}
	return file.Close()
}

// removeAbandoned removes a file or directory that no process holds.
func removeAbandoned(path string) (bool, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false, err
	}
	defer file.Close()
	if held, err := lock(file); held || err != nil && !old(path) {
		return false, nil
	}
	err = os.RemoveAll(path)
	return err == nil, err
}

// SyncDir makes a rename in a directory durable: the name is part of the directory, not of the file.
func SyncDir(name string) error {
	dir, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
