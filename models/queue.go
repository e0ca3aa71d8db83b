package models

import (
	"context"
	"errors"
	"time"

	"gorm.io/gorm"

	"postern/platform/fault"
)

// errQueue means that a change didn't get its turn.
var errQueue = errors.New("models: other changes held SQLite's write lock")

// queue lets changes of SQLite write one after the other, in the order in which they came. The pool of the one
// connection has neither this order nor a deadline.
type queue struct {
	turn chan struct{}
	wait time.Duration
}

// with calls fn with the writing connection when it is this change's turn. It returns errQueue, as 503 with
// Retry-After, if that takes too long.
func (q *queue) with(ctx context.Context, write *gorm.DB, fn func(*gorm.DB) error) error {
	waiting, stop := context.WithTimeoutCause(ctx, q.wait, errQueue)
	defer stop()
	select {
	case q.turn <- struct{}{}:
	case <-waiting.Done():
		return gaveUp(waiting, context.Cause(waiting))
	}
	defer func() { <-q.turn }()
	conn, err := pool(write).Conn(waiting) // the job queue has it at times
	if err != nil {
		return gaveUp(waiting, err)
	}
	defer func() { _ = conn.Close() }() // returns it to the pool
	db := write.WithContext(ctx)
	db.Statement.ConnPool = conn
	return fn(db)
}

func gaveUp(waiting context.Context, err error) error {
	if !errors.Is(context.Cause(waiting), errQueue) {
		return err
	}
	return fault.New(fault.Unavailable, "database_busy", "Other changes are being written. Try again in a moment.").
		After(retryAfter).
		Because(errQueue)
}
