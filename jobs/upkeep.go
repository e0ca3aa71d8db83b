package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/riverqueue/river"

	"postern/models"
)

const (
	// upkeepEvery bounds how long a dead worker's export waits after its lease has ended.
	upkeepEvery = 15 * time.Second

	// keepDeviceCodes is how long the device flow returns expired_token for a device code
	// that has expired (RFC 8628, section 3.5).
	keepDeviceCodes = time.Hour
)

// UpkeepJobs deletes expired rows, and runs the upkeep of exports, every 15 seconds.
func UpkeepJobs(db *models.DB, exports Exports) Registration {
	return Registration{
		add:      add(&upkeepWorker{db: db, exports: exports}),
		periodic: []*river.PeriodicJob{every(upkeepEvery, upkeepArgs{})},
	}
}

type upkeepArgs struct{}

// Kind implements river.JobArgs.
func (upkeepArgs) Kind() string { return "upkeep" }

type upkeepWorker struct {
	river.WorkerDefaults[upkeepArgs]
	db      *models.DB
	exports Exports
}

// Work implements river.Worker.
func (w *upkeepWorker) Work(ctx context.Context, _ *river.Job[upkeepArgs]) error {
	err := w.db.Write(ctx, func(tx *models.Tx) error {
		now := models.Now()
		return errors.Join(
			tx.DeleteExpiredTokens(now),
			tx.DeleteExpiredAccess(now, now.Add(-keepDeviceCodes)),
			tx.DeleteExpiredIdempotent(now),
		)
	})
	return errors.Join(err, w.exports.Upkeep(ctx))
}
