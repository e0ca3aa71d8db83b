// Package jobs runs background work on River, over the database that holds the
// state.
//
// It owns the kinds of job, their retries and their timetable; it does not own
// the work itself, which is a method of a rule package. A job is inserted in the
// transaction that makes it necessary, so it exists exactly if that commits.
package jobs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/riverdriver/riversqlite"

	"postern/migrations"
	"postern/models"
)

// Queue adds jobs, and works on them between Start and Stop.
type Queue struct {
	client           *river.Client[*sql.Tx]
	deliveryAttempts int
	db               *models.DB
	rescuer          *rescuer
}

// Exports is the work behind the export jobs.
type Exports interface {
	Build(ctx context.Context, id string, final bool) error
	Upkeep(ctx context.Context) error
}

// Kind is a kind of job beside exports, with the work behind it.
type Kind struct {
	register func(*river.Workers) error
	periodic []*river.PeriodicJob
	queue    string // of its own, where it has one
	workers  int    // of that queue
	attempts int    // at a delivery
}

// New makes the queue on a migrated database.
func New(db *models.DB, exports Exports, log *slog.Logger, others ...Kind) (*Queue, error) {
	workers := river.NewWorkers()
	if err := errors.Join(
		river.AddWorkerSafely(workers, &exportWorker{exports: exports}),
		river.AddWorkerSafely(workers, &upkeepWorker{exports: exports, db: db}),
	); err != nil {
		return nil, fmt.Errorf("jobs: register the workers: %w", err)
	}
	schedule, attempts := timetable(), 0
	queues := map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 4}}
	for _, kind := range others {
		if err := kind.register(workers); err != nil {
			return nil, fmt.Errorf("jobs: register the workers: %w", err)
		}
		schedule = append(schedule, kind.periodic...)
		attempts = max(attempts, kind.attempts)
		if kind.queue != "" {
			queues[kind.queue] = river.QueueConfig{MaxWorkers: kind.workers}
		}
	}
	rescuer := &rescuer{db: db, id: models.NewWorkerID(), log: log}
	client, err := river.NewClient(driver(db), &river.Config{
		ID:                rescuer.id,
		Logger:            log,
		Workers:           workers,
		Queues:            queues,
		FetchPollInterval: 500 * time.Millisecond, // where the database cannot announce a job: SQLite
		PeriodicJobs:      schedule,
		ErrorHandler:      &logErrors{log: log},
	})
	if err != nil {
		return nil, fmt.Errorf("jobs: make the queue: %w", err)
	}
	return &Queue{client: client, deliveryAttempts: attempts, db: db, rescuer: rescuer}, nil
}

func driver(db *models.DB) riverdriver.Driver[*sql.Tx] {
	if db.Dialect() == migrations.Postgres {
		return riverdatabasesql.New(db.SQL())
	}
	return riversqlite.New(db.SQL())
}

// Start begins to work; it returns when the first jobs can be taken.
func (q *Queue) Start(ctx context.Context) error {
	if err := q.rescuer.start(ctx); err != nil {
		return err
	}
	if err := q.client.Start(ctx); err != nil {
		return errors.Join(fmt.Errorf("jobs: start: %w", err), q.rescuer.stop(ctx))
	}
	return nil
}

// Stop takes no more jobs and waits for the running ones, which are cancelled
// when ctx ends; a cancelled job is tried again after the next start.
func (q *Queue) Stop(ctx context.Context) error {
	err := q.client.Stop(ctx)
	hard, stop := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer stop()
	if err != nil {
		err = q.client.StopAndCancel(hard)
	}
	if err != nil {
		err = fmt.Errorf("jobs: stop: %w", err)
	}
	return errors.Join(err, q.rescuer.stop(hard))
}

// logErrors writes the cause of a failed attempt, which River keeps in its table
// only.
type logErrors struct{ log *slog.Logger }
