package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/riverqueue/river"
)

const (
	webhookQueue   = "webhooks" // a separate queue, so that slow receivers don't delay exports
	webhookWorkers = 16         // deliveries that one process waits for at a time
	webhookUpkeep  = time.Hour
)

// Webhooks delivers events. Deliver is given the delivery's id, and whether this is
// the last attempt.
type Webhooks interface {
	Deliver(ctx context.Context, id string, final bool) error
	Upkeep(ctx context.Context) error
}

// Schedule is how often a delivery is tried, and how long after an attempt, counted
// from 1, the next one is due.
type Schedule struct {
	Attempts   int
	RetryAfter func(attempt int) time.Duration
}

// WebhookJobs delivers queued events, and runs the upkeep of webhooks every hour.
func WebhookJobs(webhooks Webhooks, schedule Schedule) Registration {
	return Registration{
		add: func(workers *river.Workers) error {
			return errors.Join(
				river.AddWorkerSafely(workers, &deliveryWorker{webhooks: webhooks, schedule: schedule}),
				river.AddWorkerSafely(workers, &webhookUpkeepWorker{webhooks: webhooks}),
			)
		},
		periodic:   []*river.PeriodicJob{every(webhookUpkeep, webhookUpkeepArgs{})},
		queue:      webhookQueue,
		maxWorkers: webhookWorkers,
	}
}

type deliveryArgs struct {
	DeliveryID string `json:"delivery_id"`
}

// Kind implements river.JobArgs.
func (deliveryArgs) Kind() string { return "webhook_delivery" }

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

type webhookUpkeepArgs struct{}

// Kind implements river.JobArgs.
func (webhookUpkeepArgs) Kind() string { return "webhook_upkeep" }

type webhookUpkeepWorker struct {
	river.WorkerDefaults[webhookUpkeepArgs]
	webhooks Webhooks
}

// Work implements river.Worker.
func (w *webhookUpkeepWorker) Work(ctx context.Context, _ *river.Job[webhookUpkeepArgs]) error {
	return w.webhooks.Upkeep(ctx)
}
