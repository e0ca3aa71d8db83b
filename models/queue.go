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
// connection has neither this order nor a deadline. Imports, of which each is many changes, have a queue too.
type queue struct {
	turn chan struct{}
	wait time.Duration
}

func newQueue(wait time.Duration) *queue { return &queue{make(chan struct{}, 1), wait} }

// importTurn is how long an import waits until the one before it has ended.
const importTurn = time.Minute

// with calls fn with the writing connection when it is this change's turn. It returns errQueue, as 503 with
// Retry-After, if that takes too long.
func (q *queue) with(ctx context.Context, write *gorm.DB, fn func(*gorm.DB) error) error {
	waiting, stop := context.WithTimeoutCause(ctx, q.wait, errQueue)
	defer stop()
	leave, err := q.enter(waiting)
	if err != nil {
		return err
	}
	defer leave()
	conn, err := pool(write).Conn(waiting) // the job queue holds it at times
	if err != nil {
		return queueError(waiting, err)
	}
	defer func() { _ = conn.Close() }() // returns it to the pool
	db := write.WithContext(ctx)
	db.Statement.ConnPool = conn
	return fn(db)
}

// enter waits for the turn, which lasts until leave is called.
func (q *queue) enter(waiting context.Context) (leave func(), err error) {
	select {
	case q.turn <- struct{}{}:
		return func() { <-q.turn }, nil
	case <-waiting.Done():
		return nil, queueError(waiting, context.Cause(waiting))
	}
}

// alone calls fn when no other import is running. It returns errQueue, as 503 with Retry-After, if that takes too long.
func (q *queue) alone(ctx context.Context, fn func() error) error {
	waiting, stop := context.WithTimeoutCause(ctx, q.wait, errQueue)
	defer stop()
	leave, err := q.enter(waiting)
	if err != nil {
		return err
	}
	defer leave()
	return fn()
}

func queueError(waiting context.Context, err error) error {
	if !errors.Is(context.Cause(waiting), errQueue) {
		return err
	}
	return fault.New(fault.Unavailable, "database_busy", "Other changes are being written. Try again in a moment.").
		After(retryAfter).
		Because(errQueue)
}
