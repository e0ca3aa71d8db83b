package jobs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"postern/models"
)

// Queue inserts jobs, each in its caller's transaction. It runs none: see Workers.
type Queue struct {
	db         *models.DB
	client     *river.Client[*sql.Tx] // without queues: it only inserts
	deliveries Schedule
}

// NewQueue returns a queue in db. It does not use the database yet.
func NewQueue(db *models.DB, deliveries Schedule, log *slog.Logger) (*Queue, error) {
	client, err := river.NewClient(driver(db), &river.Config{
		Logger:     log.With("component", "job queue"),
		Middleware: []rivertype.Middleware{&queuedBy{}},
	})
	if err != nil {
		return nil, fmt.Errorf("jobs: create the queue: %w", err)
	}
	return &Queue{db: db, client: client, deliveries: deliveries}, nil
}

// EnqueueExport implements exports.Enqueuer.
func (q *Queue) EnqueueExport(ctx context.Context, tx *models.Tx, exportID string) error {
	options := &river.InsertOpts{Queue: exportQueue, MaxAttempts: exportAttempts}
	if _, err := q.client.InsertTx(ctx, tx.SQL(), exportArgs{ExportID: exportID}, options); err != nil {
		return fmt.Errorf("jobs: queue export %s: %w", exportID, err)
	}
	return nil
}

// EnqueueDelivery implements webhooks.Enqueuer.
func (q *Queue) EnqueueDelivery(ctx context.Context, tx *models.Tx, deliveryID string) error {
	options := &river.InsertOpts{Queue: webhookQueue, MaxAttempts: q.deliveries.Attempts}
	if _, err := q.client.InsertTx(ctx, tx.SQL(), deliveryArgs{DeliveryID: deliveryID}, options); err != nil {
		return fmt.Errorf("jobs: queue delivery %s: %w", deliveryID, err)
	}
	return nil
}

// EnqueuePurge implements projects.Purger. A purge that fails is left to the next scheduled one.
func (q *Queue) EnqueuePurge(ctx context.Context, tx *models.Tx) error {
	if _, err := q.client.InsertTx(ctx, tx.SQL(), purgeArgs{}, &river.InsertOpts{MaxAttempts: 1}); err != nil {
		return fmt.Errorf("jobs: queue a purge: %w", err)
	}
	return nil
}

// Counts returns the number of jobs by their state in River. River keeps finished jobs for a day.
func (q *Queue) Counts(ctx context.Context) (map[string]int64, error) {
	rows, err := q.db.ReadSQL().QueryContext(ctx, "SELECT state, count(*) FROM river_job GROUP BY state")
	if err != nil {
		return nil, fmt.Errorf("jobs: count: %w", err)
	}
	defer func() { _ = rows.Close() }() // Err reports its error
	counts := map[string]int64{}
	for rows.Next() {
		var state string
		var n int64
		if err := rows.Scan(&state, &n); err != nil {
			return nil, fmt.Errorf("jobs: count: %w", err)
		}
		counts[state] = n
	}
	return counts, rows.Err()
}

// OldestWaiting returns how long the job that has waited longest could have run, 0 if none
// waits.
func (q *Queue) OldestWaiting(ctx context.Context) (time.Duration, error) {
	const query = "SELECT scheduled_at FROM river_job WHERE state = 'available' ORDER BY scheduled_at LIMIT 1"
	var since time.Time
	err := q.db.ReadSQL().QueryRowContext(ctx, query).Scan(&since)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("jobs: find the job that has waited longest: %w", err)
	}
	return max(0, time.Since(since)), nil
}
