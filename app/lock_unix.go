//go:build unix

package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// lock takes an exclusive lock on a data directory until release is called or the process ends.
// The kernel releases the lock even if the process is killed.
func lock(dir string) (release func() error, sole bool, err error) {
	path := filepath.Join(dir, "postern.lock")
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, false, fmt.Errorf("cannot write to the data directory %s (%w): choose another directory with "+
			"--data-dir or POSTERN_DATA_DIR", dir, err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = fmt.Errorf("another postern serve is using the data directory %s: stop it, or choose another directory "+
			"with --data-dir or POSTERN_DATA_DIR", dir)
		return nil, false, errors.Join(err, file.Close())
	}
	if err != nil {
		return nil, false, errors.Join(fmt.Errorf("cannot lock %s: %w", path, err), file.Close())
	}
	return file.Close, true, nil
}
