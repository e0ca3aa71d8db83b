package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"postern/models"
)

// queueWebhooks keeps receivers that are slow from holding up exports, and
// deliveriesAtOnce bounds how many of them one process waits for.
const (
	queueWebhooks    = "webhooks"
	deliveriesAtOnce = 16
)

// Webhooks is the work behind the delivery jobs. RetryAfter and Attempts make
// their timetable.
type Webhooks interface {
	Deliver(ctx context.Context, id string, final bool) error
	Upkeep(ctx context.Context) error
}

// Schedule says how often a delivery is tried, and how long after an attempt,
// counted from 1, the next one is due.
type Schedule struct {
	Attempts   int
	RetryAfter func(attempt int) time.Duration
}

// Deliveries are the jobs that tell webhooks.
func Deliveries(webhooks Webhooks, schedule Schedule) Kind {
	return Kind{
		queue: queueWebhooks, workers: deliveriesAtOnce, attempts: schedule.Attempts,
		register: func(w *river.Workers) error {
			if err := river.AddWorkerSafely(w, &deliveryWorker{webhooks: webhooks, schedule: schedule}); err != nil {
				return err
			}
			return river.AddWorkerSafely(w, &forgetWorker{webhooks: webhooks})
		},
		periodic: []*river.PeriodicJob{river.NewPeriodicJob(river.PeriodicInterval(time.Hour),
			func() (river.JobArgs, *river.InsertOpts) { return forgetArgs{}, &river.InsertOpts{MaxAttempts: 1} },
			&river.PeriodicJobOpts{RunOnStart: true})},
	}
}

type deliveryArgs struct {
	DeliveryID string `json:"delivery_id"`
}

// Kind implements river.JobArgs.
func (deliveryArgs) Kind() string { return "webhook_delivery" }

// EnqueueDelivery implements webhooks.Enqueuer.
func (q *Queue) EnqueueDelivery(ctx context.Context, tx *models.Tx, deliveryID string) error {
	options := &river.InsertOpts{Queue: queueWebhooks, MaxAttempts: q.deliveryAttempts}
	if _, err := q.client.InsertTx(ctx, tx.SQL(), deliveryArgs{DeliveryID: deliveryID}, options); err != nil {
		return fmt.Errorf("jobs: queue the delivery %s: %w", deliveryID, err)
	}
	return nil
}

type deliveryWorker struct {
	river.WorkerDefaults[deliveryArgs]
	webhooks Webhooks
	schedule Schedule
}

// Work implements river.Worker.
func (w *deliveryWorker) Work(ctx context.Context, job *river.Job[deliveryArgs]) error {
	return w.webhooks.Deliver(ctx, job.Args.DeliveryID, job.Attempt >= job.MaxAttempts)
}

// NextRetry implements river.Worker.
func (w *deliveryWorker) NextRetry(job *river.Job[deliveryArgs]) time.Time {
	return time.Now().Add(w.schedule.RetryAfter(job.Attempt))
}

type forgetArgs struct{}

// Kind implements river.JobArgs.
func (forgetArgs) Kind() string { return "webhook_upkeep" }

type forgetWorker struct {
	river.WorkerDefaults[forgetArgs]
	webhooks Webhooks
}

// Work implements river.Worker.
func (w *forgetWorker) Work(ctx context.Context, _ *river.Job[forgetArgs]) error {
	return w.webhooks.Upkeep(ctx)
}
