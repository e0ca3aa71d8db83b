package app

import (
	"context"
	"time"

	"postern/core/policy"
	"postern/gateway"
	"postern/platform/metrics"
	"postern/service/usage"
)

// observer tells usage and metrics what the gateway tells. None knows of the
// others; that the structs of gateway and usage are alike is checked by the
// conversion.
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

// newMetrics measures what is there once everything is wired.
func (a *App) newMetrics() *metrics.Metrics {
	var refusals []string
	for _, denial := range policy.Denials() {
		refusals = append(refusals, denial.Code)
	}
	return metrics.New(metrics.Sources{
		Refusals: refusals,
		FeedAge:  func() time.Duration { return a.feed.Age() },
		Jobs:     func(ctx context.Context) (map[string]int64, error) { return a.queue.Counts(ctx) },
		Exports:  func(ctx context.Context) (map[string]int64, error) { return a.state.db.Read(ctx).CountExports() },
	})
}
