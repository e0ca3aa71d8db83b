package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"
)

// purgeEvery is how often ended workspaces are looked for, purgeFor how long one
// round may take; the next one goes on where it was.
const (
	purgeEvery = 15 * time.Minute
	purgeFor   = 10 * time.Minute
)

// Retention is the work behind the purge of what nobody claimed.
type Retention interface {
	Purge(ctx context.Context) error
}

// Purges is the job that runs it by the clock.
func Purges(retention Retention) Kind {
	return Kind{
		register: func(w *river.Workers) error { return river.AddWorkerSafely(w, &purgeWorker{retention: retention}) },
		periodic: []*river.PeriodicJob{river.NewPeriodicJob(river.PeriodicInterval(purgeEvery),
			func() (river.JobArgs, *river.InsertOpts) { return purgeArgs{}, &river.InsertOpts{MaxAttempts: 1} },
			&river.PeriodicJobOpts{RunOnStart: true})},
	}
}

type purgeArgs struct{}

// Kind implements river.JobArgs.
func (purgeArgs) Kind() string { return "purge" }

type purgeWorker struct {
	river.WorkerDefaults[purgeArgs]
	retention Retention
}

// Work implements river.Worker.
func (w *purgeWorker) Work(ctx context.Context, _ *river.Job[purgeArgs]) error {
	return w.retention.Purge(ctx)
}

// Timeout implements river.Worker.
func (w *purgeWorker) Timeout(*river.Job[purgeArgs]) time.Duration { return purgeFor }
