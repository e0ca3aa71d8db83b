package app

import (
	"context"

	"postern/core/policy"
	"postern/gateway"
	"postern/jobs"
	"postern/models"
	"postern/platform/metrics"
	"postern/service/projects"
	"postern/service/usage"
)

// observer passes the outcome of each call to usage and metrics. The conversion fails
// to compile if gateway.Outcome and usage.Call differ.
type observer struct {
	recorder *usage.Recorder
	metrics  *metrics.Metrics
}

// Observe implements gateway.Observer.
func (o observer) Observe(out gateway.Outcome) {
	o.metrics.Call(out.Status, out.Code, out.Duration)
	o.recorder.Observe(usage.Call(out))
}

// ForConnection implements gateway.Observer.
func (o observer) ForConnection() gateway.CallObserver {
	return connObserver{o.recorder.ForConnection(), o.metrics}
}

// connObserver is observer for the calls of one connection.
type connObserver struct {
	recorder *usage.ConnRecorder
	metrics  *metrics.Metrics
}

// Observe implements gateway.CallObserver.
func (o connObserver) Observe(out gateway.Outcome) {
	o.metrics.Call(out.Status, out.Code, out.Duration)
	o.recorder.Observe(usage.Call(out))
}

// newMetrics creates the metrics, which read feed, queue and db when they are scraped.
func newMetrics(db *models.DB, feed *projects.Feed, queue *jobs.Queue) *metrics.Metrics {
	var refusals []string
	for _, denial := range policy.Denials() {
		refusals = append(refusals, denial.Code)
	}
	return metrics.New(metrics.Sources{
		Refusals: refusals,
		FeedAge:  feed.Age,
		Jobs:     queue.Counts,
		Exports:  func(ctx context.Context) (map[string]int64, error) { return db.Read(ctx).CountExports() },
	})
}
