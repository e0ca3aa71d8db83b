package app

import (
	"context"

	"postern/core/policy"
	"postern/gateway"
	"postern/jobs"
	"postern/models"
	"postern/platform/metrics"
	"postern/service/ratelimit"
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

// newMetrics creates the metrics, which read the parts of the server when they are scraped.
func (a *App) newMetrics(queue *jobs.Queue) *metrics.Metrics {
	var refusals []string
	for _, denial := range policy.Denials() {
		refusals = append(refusals, denial.Code)
	}
	return metrics.New(metrics.Sources{
		Refusals: refusals,
		FeedAge:  a.feed.Age,
		Jobs:     queue.Counts,
		Exports: func(ctx context.Context) (map[string]int64, error) {
			return a.state.db.Read(ctx).CountExports()
		},
		OldestJob: queue.OldestWaiting,
		Pools:     func() map[string]metrics.Pool { return databasePools(a.state.db) },
		Redis:     a.redisUse(),
		Conns:     a.connections,
		Revision:  a.feed.Position,
		Outdated:  a.feed.Behind,
	})
}

func databasePools(db *models.DB) map[string]metrics.Pool {
	pools := map[string]metrics.Pool{}
	for name, stats := range db.Pools() {
		pools[name] = metrics.Pool{
			Open:   stats.OpenConnections,
			InUse:  stats.InUse,
			Max:    stats.MaxOpenConnections,
			Waits:  stats.WaitCount,
			Waited: stats.WaitDuration,
		}
	}
	return pools
}

// redisUse returns the source of the measurements of Redis, nil where none is configured.
func (a *App) redisUse() func() metrics.Shared {
	shared, ok := a.limiter.(*ratelimit.Redis)
	if !ok {
		return nil
	}
	return func() metrics.Shared {
		stats := shared.Stats()
		return metrics.Shared{
			Up:       stats.Up,
			Failures: stats.Failures,
			Pool:     metrics.Pool{Open: stats.Conns, InUse: stats.Conns - stats.Idle},
		}
	}
}

// connections returns the connections of callers, by listener.
func (a *App) connections() map[string]metrics.Conns {
	open, most := a.gateway.Conns()
	return map[string]metrics.Conns{
		"gateway": {Open: open, Max: most},
		"control": {Open: a.bounded.Open(), Max: a.bounded.Max},
	}
}
