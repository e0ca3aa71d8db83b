package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"
)

// loginEvery is how often old signing keys and logins that are over are looked for.
const loginEvery = 10 * time.Minute

// Logins is the work behind the upkeep of the hosted login.
type Logins interface {
	Upkeep(ctx context.Context) error
}

// LoginUpkeep is the job that does it by the clock.
func LoginUpkeep(logins Logins) Kind {
	return Kind{
		register: func(w *river.Workers) error { return river.AddWorkerSafely(w, &loginWorker{logins: logins}) },
		periodic: []*river.PeriodicJob{river.NewPeriodicJob(river.PeriodicInterval(loginEvery),
			func() (river.JobArgs, *river.InsertOpts) { return loginArgs{}, &river.InsertOpts{MaxAttempts: 1} },
			&river.PeriodicJobOpts{RunOnStart: true})},
	}
}

type loginArgs struct{}

// Kind implements river.JobArgs.
func (loginArgs) Kind() string { return "login_upkeep" }

type loginWorker struct {
	river.WorkerDefaults[loginArgs]
	logins Logins
}

// Work implements river.Worker.
func (w *loginWorker) Work(ctx context.Context, _ *river.Job[loginArgs]) error {
	return w.logins.Upkeep(ctx)
}
