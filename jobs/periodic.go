package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/riverqueue/river"

	"postern/models"
)

// upkeepEvery bounds how long a dead worker's export waits beyond its lease.
const upkeepEvery = 15 * time.Second

// deviceMemory is how long a program that waits for approval is told that its
// time has run out.
const deviceMemory = time.Hour

// timetable lists what runs by the clock, on one replica at a time.
func timetable() []*river.PeriodicJob {
	return []*river.PeriodicJob{
		river.NewPeriodicJob(river.PeriodicInterval(upkeepEvery),
			func() (river.JobArgs, *river.InsertOpts) { return upkeepArgs{}, &river.InsertOpts{MaxAttempts: 1} },
			&river.PeriodicJobOpts{RunOnStart: true}),
	}
}

// upkeepArgs asks for what has died or expired to be cleared away.
type upkeepArgs struct{}

// Kind implements river.JobArgs.
func (upkeepArgs) Kind() string { return "upkeep" }

type upkeepWorker struct {
	river.WorkerDefaults[upkeepArgs]
	exports Exports
	db      *models.DB
}

// Work implements river.Worker.
func (w *upkeepWorker) Work(ctx context.Context, _ *river.Job[upkeepArgs]) error {
	forget := w.db.Write(ctx, func(tx *models.Tx) error {
		now := models.Now()
		return errors.Join(
			tx.DeleteExpiredTokens(now), tx.DeleteExpiredAccess(now, now.Add(-deviceMemory)),
			tx.DeleteExpiredIdempotent(now),
		)
	})
	return errors.Join(forget, w.exports.Upkeep(ctx))
}
