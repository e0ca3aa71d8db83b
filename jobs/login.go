package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"
)

const loginEvery = 10 * time.Minute

// Login deletes signing keys and logins of the hosted login that have expired.
type Login interface {
	Upkeep(ctx context.Context) error
}

// LoginJobs runs the upkeep of the hosted login every 10 minutes.
func LoginJobs(login Login) Registration {
	return Registration{
		add:      add(&loginWorker{login: login}),
		periodic: []*river.PeriodicJob{every(loginEvery, loginArgs{})},
	}
}

type loginArgs struct{}

// Kind implements river.JobArgs.
func (loginArgs) Kind() string { return "login_upkeep" }

type loginWorker struct {
	river.WorkerDefaults[loginArgs]
	login Login
}

// Work implements river.Worker.
func (w *loginWorker) Work(ctx context.Context, _ *river.Job[loginArgs]) error {
	return w.login.Upkeep(ctx)
}
