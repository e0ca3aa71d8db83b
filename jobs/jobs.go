// Package jobs runs background work on River, in the database that holds the state. It owns the kinds of job, their
// retries and their schedule; the work itself is a method of a service. A Queue inserts jobs in the transaction that
// requires them, so that a job exists exactly if the transaction commits. Workers take the jobs and run them.
package jobs

import (
	"database/sql"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/riverdriver/riversqlite"

	"postern/migrations"
	"postern/models"
)

// Registration adds the jobs of one service to Workers.
type Registration struct {
	add        func(*river.Workers) error
	periodic   []*river.PeriodicJob
	queue      string // a separate River queue; "" for the default one
	maxWorkers int    // of that queue
}

// add registers the worker of one kind of job.
func add[T river.JobArgs](worker river.Worker[T]) func(*river.Workers) error {
	return func(workers *river.Workers) error { return river.AddWorkerSafely(workers, worker) }
}

// every schedules a job at the start and then once an interval, on one replica at a
// time. It is not retried, because the next one follows.
func every(interval time.Duration, args river.JobArgs) *river.PeriodicJob {
	return river.NewPeriodicJob(
		river.PeriodicInterval(interval),
		func() (river.JobArgs, *river.InsertOpts) { return args, &river.InsertOpts{MaxAttempts: 1} },
		&river.PeriodicJobOpts{RunOnStart: true},
	)
}

func driver(db *models.DB) riverdriver.Driver[*sql.Tx] {
	if db.Dialect() == migrations.Postgres {
		return riverdatabasesql.New(db.SQL())
	}
	return riversqlite.New(db.SQL())
}
