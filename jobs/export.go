package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"postern/models"
)

// exportAttempts counts the first one.
const exportAttempts = 3

// exportArgs asks for an export to be built.
type exportArgs struct {
	ExportID string `json:"export_id"`
}

// Kind implements river.JobArgs.
func (exportArgs) Kind() string { return "export" }

// EnqueueExport implements exports.Enqueuer.
func (q *Queue) EnqueueExport(ctx context.Context, tx *models.Tx, exportID string) error {
	_, err := q.client.InsertTx(
		ctx, tx.SQL(), exportArgs{ExportID: exportID}, &river.InsertOpts{MaxAttempts: exportAttempts},
	)
	if err != nil {
		return fmt.Errorf("jobs: queue export %s: %w", exportID, err)
	}
	return nil
}

type exportWorker struct {
	river.WorkerDefaults[exportArgs]
	exports Exports
}

// Work implements river.Worker.
func (w *exportWorker) Work(ctx context.Context, job *river.Job[exportArgs]) error {
	return w.exports.Build(ctx, job.Args.ExportID, job.Attempt >= job.MaxAttempts)
}

// Timeout implements river.Worker: none, because a large export takes as long as
// it takes, and its lease tells a slow worker from a dead one.
func (w *exportWorker) Timeout(*river.Job[exportArgs]) time.Duration { return -1 }

// NextRetry implements river.Worker: soon, somebody is waiting for the zip.
func (w *exportWorker) NextRetry(job *river.Job[exportArgs]) time.Time {
	return time.Now().Add(time.Duration(job.Attempt) * 2 * time.Second)
}

// HandleError implements river.ErrorHandler.
func (h *logErrors) HandleError(_ context.Context, job *rivertype.JobRow, err error) *river.ErrorHandlerResult {
	h.log.Warn("a job's attempt failed", "kind", job.Kind, "attempt", job.Attempt, "of", job.MaxAttempts, "error", err)
	return nil
}

// HandlePanic implements river.ErrorHandler.
func (h *logErrors) HandlePanic(
	_ context.Context, job *rivertype.JobRow, value any, trace string,
) *river.ErrorHandlerResult {
	h.log.Error("a job panicked", "kind", job.Kind, "attempt", job.Attempt, "panic", value, "trace", trace)
	return nil
}
