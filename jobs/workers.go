package jobs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"postern/models"
	"postern/platform/traces"
)

const (
	defaultWorkers = 4                      // jobs of the default queue that one process runs at a time
	pollEvery      = 500 * time.Millisecond // for jobs that the database does not announce, as SQLite
	cancelWithin   = 5 * time.Second        // for canceled jobs to return
)

// Workers runs queued jobs between Start and Stop.
type Workers struct {
	client   *river.Client[*sql.Tx]
	rescuer  *rescuer
	stopping *atomic.Bool // for riverLog
}

// Options are the dependencies of Workers, apart from the jobs.
type Options struct {
	DB  *models.DB
	Log *slog.Logger
	// Observe is called with each attempt at a job; it may be nil.
	Observe func(kind string, failed bool, took time.Duration)
	Traces  *traces.Tracer // nil: nothing is traced
}

// NewWorkers returns workers for the registered jobs, which do not run yet.
func NewWorkers(o Options, registrations ...Registration) (*Workers, error) {
	db, log := o.DB, o.Log
	workers := river.NewWorkers()
	queues := map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: defaultWorkers}}
	var periodic []*river.PeriodicJob
	for _, r := range registrations {
		if err := r.add(workers); err != nil {
			return nil, fmt.Errorf("jobs: register the workers: %w", err)
		}
		periodic = append(periodic, r.periodic...)
		if r.queue != "" {
			queues[r.queue] = river.QueueConfig{MaxWorkers: r.maxWorkers}
		}
	}
	rescuer := &rescuer{db: db, id: models.NewWorkerID(), log: log}
	stopping := new(atomic.Bool)
	client, err := river.NewClient(driver(db), &river.Config{
		ID:                rescuer.id,
		Logger:            slog.New(riverLog{log.With("component", "job queue").Handler(), stopping}),
		Workers:           workers,
		Queues:            queues,
		FetchPollInterval: pollEvery,
		PeriodicJobs:      periodic,
		ErrorHandler:      &logErrors{log: log},
		Middleware:        []rivertype.Middleware{&traced{tracer: o.Traces}, &observed{observe: o.Observe}},
	})
	if err != nil {
		return nil, fmt.Errorf("jobs: create the workers: %w", err)
	}
	return &Workers{client: client, rescuer: rescuer, stopping: stopping}, nil
}

// Start begins to run jobs. It returns when the first ones can be taken. After an error it
// can be called again.
func (w *Workers) Start(ctx context.Context) error {
	w.stopping.Store(false)
	if err := w.rescuer.start(ctx); err != nil {
		return err
	}
	if err := w.client.Start(ctx); err != nil {
		// River's client counts as running after a start that failed, and another Start
		// would do nothing and return nil.
		return errors.Join(fmt.Errorf("jobs: start: %w", err), w.client.Stop(ctx), w.rescuer.stop(ctx))
	}
	return nil
}

// Stop takes no more jobs and waits for the running ones, which are canceled when
// ctx ends. A canceled job is tried again after the next start.
func (w *Workers) Stop(ctx context.Context) error {
	w.stopping.Store(true)
	err := w.client.Stop(ctx)
	hard, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelWithin)
	defer stop()
	if err != nil {
		err = w.client.StopAndCancel(hard)
	}
	if err != nil {
		err = fmt.Errorf("jobs: stop: %w", err)
	}
	return errors.Join(err, w.rescuer.stop(hard))
}

// observed is a river.WorkerMiddleware that measures attempts.
type observed struct {
	river.MiddlewareDefaults

	observe func(kind string, failed bool, took time.Duration)
}

// Work implements rivertype.WorkerMiddleware.
func (m *observed) Work(ctx context.Context, job *rivertype.JobRow, work func(context.Context) error) (err error) {
	if m.observe == nil {
		return work(ctx)
	}
	began, returned := time.Now(), false
	defer func() { m.observe(job.Kind, err != nil || !returned, time.Since(began)) }() // after a panic too
	err = work(ctx)
	returned = true
	return err
}

// logErrors logs why an attempt failed, which River writes to its table only.
type logErrors struct{ log *slog.Logger }

// HandleError implements river.ErrorHandler.
func (h *logErrors) HandleError(_ context.Context, job *rivertype.JobRow, err error) *river.ErrorHandlerResult {
	log := h.log
	if in, ok := errors.AsType[*tracedError](err); ok {
		log = log.With("trace_id", in.trace)
	}
	log.Warn("an attempt at a job "+
		"failed", "kind", job.Kind, "attempt", job.Attempt, "of", job.MaxAttempts, "error", err)
	return nil
}

// HandlePanic implements river.ErrorHandler.
func (h *logErrors) HandlePanic(
	_ context.Context, job *rivertype.JobRow, value any, trace string,
) *river.ErrorHandlerResult {
	h.log.Error("a job panicked", "kind", job.Kind, "attempt", job.Attempt, "panic", value, "trace", trace)
	return nil
}
