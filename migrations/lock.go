package migrations

import (
	"fmt"

	"github.com/pressly/goose/v3/lock"
)

// sessionLock makes replicas that start together apply the steps one after the
// other: an advisory lock of PostgreSQL that dies with its session.
func sessionLock() (lock.SessionLocker, error) {
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return nil, fmt.Errorf("migrations: session lock: %w", err)
	}
	return locker, nil
}
