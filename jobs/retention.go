package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"
)

const (
	purgeEvery  = 15 * time.Minute
	purgeWithin = 10 * time.Minute // the next purge continues where this one stopped
)

// Retention deletes projects whose time in the trash is over, and unclaimed workspaces that
// have expired.
type Retention interface {
	Purge(ctx context.Context) error
}

// RetentionJobs purges deleted projects and expired workspaces every 15 minutes.
func RetentionJobs(retention Retention) Registration {
	return Registration{
		add:      add(&purgeWorker{retention: retention}),
		periodic: []*river.PeriodicJob{every(purgeEvery, purgeArgs{})},
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
func (w *purgeWorker) Timeout(*river.Job[purgeArgs]) time.Duration { return purgeWithin }
