package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"
)

const (
	logoutQueue   = "logouts" // a separate queue, so that slow applications delay nothing else
	logoutWorkers = 2
	logoutsEvery  = 5 * time.Second
)

// Logouts tells app clients of ended sessions.
type Logouts interface {
	SendLogouts(ctx context.Context) error
}

// LogoutJobs tells app clients of ended sessions every five seconds.
func LogoutJobs(logouts Logouts) Registration {
	return Registration{
		add: add(&logoutWorker{logouts: logouts}),
		periodic: []*river.PeriodicJob{river.NewPeriodicJob(
			river.PeriodicInterval(logoutsEvery),
			func() (river.JobArgs, *river.InsertOpts) {
				return logoutArgs{}, &river.InsertOpts{MaxAttempts: 1, Queue: logoutQueue}
			},
			&river.PeriodicJobOpts{RunOnStart: true},
		)},
		queue:      logoutQueue,
		maxWorkers: logoutWorkers,
	}
}

type logoutArgs struct{}

// Kind implements river.JobArgs.
func (logoutArgs) Kind() string { return "logouts" }

type logoutWorker struct {
	river.WorkerDefaults[logoutArgs]
	logouts Logouts
}

// Work implements river.Worker.
func (w *logoutWorker) Work(ctx context.Context, _ *river.Job[logoutArgs]) error {
	return w.logouts.SendLogouts(ctx)
}
