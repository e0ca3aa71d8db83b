package migrations

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"time"

	"github.com/pressly/goose/v3/lock"
)

// sessionLock makes replicas that start together apply the steps one after the
// other: an advisory lock of PostgreSQL that dies with its session.
func sessionLock(log *slog.Logger) (lock.SessionLocker, error) {
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return nil, fmt.Errorf("migrations: session lock: %w", err)
	}
	return loggedLock{locker, log}, nil
}

// loggedLock logs that it waits: another process may keep the lock for as long as
// its steps take.
type loggedLock struct {
	lock.SessionLocker
	log *slog.Logger
}

// logWaitAfter is how long a wait for the lock may take before it is logged.
const logWaitAfter = time.Second

// SessionLock implements lock.SessionLocker.
func (l loggedLock) SessionLock(ctx context.Context, conn *sql.Conn) error {
	waiting := time.AfterFunc(logWaitAfter, func() {
		l.log.Warn("waiting for another process that is migrating the schema")
	})
	defer waiting.Stop()
	return l.SessionLocker.SessionLock(ctx, conn)
}
