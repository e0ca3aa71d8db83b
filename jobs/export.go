package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/riverqueue/river"

	"postern/platform/fault"
)

const (
	// Exports have their own queue, so that those that wait for a store that hangs keep
	// no other job from running.
	exportQueue   = "exports"
	exportWorkers = 2 // exports that one process builds at a time

	// exportAttempts counts the first attempt too.
	exportAttempts = 3
)

// Exports builds exports. Build is given the export's id, and whether this is the last
// attempt. An error with a time to retry after is not an attempt.
type Exports interface {
	Build(ctx context.Context, id string, final bool) error
	Upkeep(ctx context.Context) error
	Sweep(ctx context.Context) error
}

// sweepEvery is how often files that no export needs are looked for. A bucket's provider may
// charge for each look.
const sweepEvery = time.Hour

// ExportJobs builds queued exports, and removes files that no export needs.
func ExportJobs(exports Exports) Registration {
	build, sweep := add(&exportWorker{exports: exports}), add(&sweepWorker{exports: exports})
	return Registration{
		add:        func(workers *river.Workers) error { return errors.Join(build(workers), sweep(workers)) },
		periodic:   []*river.PeriodicJob{every(sweepEvery, sweepArgs{})},
		queue:      exportQueue,
		maxWorkers: exportWorkers,
	}
}

type exportArgs struct {
	ExportID string `json:"export_id"`
}

// Kind implements river.JobArgs.
func (exportArgs) Kind() string { return "export" }

type exportWorker struct {
	river.WorkerDefaults[exportArgs]
	exports Exports
}

// Work implements river.Worker.
func (w *exportWorker) Work(ctx context.Context, job *river.Job[exportArgs]) error {
	err := w.exports.Build(ctx, job.Args.ExportID, job.Attempt >= job.MaxAttempts)
	if wait := fault.RetryAfter(err); wait > 0 {
		return errors.Join(err, river.JobSnooze(wait))
	}
	return err
}

// Timeout implements river.Worker. There is no timeout: a large export takes long, and its lease distinguishes a slow
// worker from a dead one.
func (w *exportWorker) Timeout(*river.Job[exportArgs]) time.Duration { return -1 }

// NextRetry implements river.Worker. Retries are a few seconds apart, because the
// customer is waiting for the zip.
func (w *exportWorker) NextRetry(job *river.Job[exportArgs]) time.Time {
	return time.Now().Add(time.Duration(job.Attempt) * 2 * time.Second)
}

type sweepArgs struct{}

// Kind implements river.JobArgs.
func (sweepArgs) Kind() string { return "export_sweep" }

type sweepWorker struct {
	river.WorkerDefaults[sweepArgs]
	exports Exports
}

// Work implements river.Worker.
func (w *sweepWorker) Work(ctx context.Context, _ *river.Job[sweepArgs]) error {
	return w.exports.Sweep(ctx)
}
