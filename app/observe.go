package app

import (
	"context"
	"log/slog"
	"os"

	"postern/core/policy"
	"postern/gateway"
	"postern/gateway/accesslog"
	"postern/jobs"
	"postern/models"
	"postern/platform/config"
	"postern/platform/metrics"
	"postern/service/ratelimit"
	"postern/service/usage"
)

// observer passes the outcome of each call to usage, metrics and the access log. The
// conversion fails to compile if gateway.Outcome and usage.Call differ.
type observer struct {
	recorder *usage.Recorder
	metrics  *metrics.Metrics
	log      *accesslog.Log // nil: there is none
}

// Observe implements gateway.Observer.
func (o observer) Observe(out gateway.Outcome) {
	o.metrics.Call(out.Status, out.Code, out.Duration)
	if o.log != nil {
		o.log.Observe(out)
	}
	o.recorder.Observe(usage.Call(out))
}

// ForConnection implements gateway.Observer.
func (o observer) ForConnection() gateway.CallObserver {
	return connObserver{o.recorder.ForConnection(), o.metrics, o.log}
}

// connObserver is observer for the calls of one connection.
type connObserver struct {
	recorder *usage.ConnRecorder
	metrics  *metrics.Metrics
	log      *accesslog.Log
}

// Observe implements gateway.CallObserver.
func (o connObserver) Observe(out gateway.Outcome) {
	o.metrics.Call(out.Status, out.Code, out.Duration)
	if o.log != nil {
		o.log.Observe(out)
	}
	o.recorder.Observe(usage.Call(out))
}

// targets returns the health of targets according to this process's gateway. The conversion fails to compile if the
// types differ.
func (a *App) targets() []usage.TargetHealth {
	all := a.plane.Health()
	out := make([]usage.TargetHealth, len(all))
	for i, one := range all {
		out[i] = usage.TargetHealth(one)
	}
	return out
}

// openAccessLog opens the access log, nil if there is none.
func openAccessLog(c config.Config, log *slog.Logger) (*accesslog.Log, error) {
	if c.AccessLog.Every == 0 {
		return nil, nil
	}
	return accesslog.Open(accesslog.Options{
		Path:  c.AccessLog.File,
		Out:   os.Stdout,
		Every: c.AccessLog.Every,
		Log:   log,
	})
}

// closeAccessLog writes the remaining lines of the access log, and closes it.
func (a *App) closeAccessLog() error {
	if a.accessLog == nil {
		return nil
	}
	return a.accessLog.Close()
}

// newMetrics creates the metrics, which read the parts of the server when they are scraped.
func (a *App) newMetrics(version string, queue *jobs.Queue) *metrics.Metrics {
	var refusals []string
	for _, denial := range policy.Denials() {
		refusals = append(refusals, denial.Code)
	}
	sources := metrics.Sources{
		Build:    metrics.Build{Version: version, Roles: a.Config.Roles.String()},
		Refusals: refusals,
		Pools:    func() map[string]metrics.Pool { return databasePools(a.state.db) },
		Redis:    a.redisUse(),
		Conns:    a.connections,
		Unlogged: a.unlogged(),
		Untraced: a.untraced(),
		CertEnds: a.tls.ends,
	}
	if a.Config.Roles.Serve() {
		sources.FeedAge, sources.Revision, sources.Outdated = a.feed.Age, a.feed.Position, a.feed.Behind
	}
	if a.Config.Roles.Gateway {
		sources.Targets = a.measuredTargets
	}
	if a.Config.Roles.Control || a.Config.Roles.Worker {
		sources.Jobs, sources.OldestJob, sources.UsageLog = queue.Counts, queue.OldestWaiting, a.usage.LogAge
		sources.Exports = func(ctx context.Context) (map[string]int64, error) {
			return a.state.db.Read(ctx).CountExports()
		}
	}
	return metrics.New(sources)
}

// measuredTargets returns the health of targets according to this process's gateway, for metrics.
func (a *App) measuredTargets() []metrics.Target {
	all := a.plane.Health()
	out := make([]metrics.Target, len(all))
	for i, one := range all {
		out[i] = metrics.Target{EnvironmentID: one.EnvironmentID, Position: one.Position, State: one.State}
	}
	return out
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
	conns := map[string]metrics.Conns{}
	if a.gateway != nil {
		open, most := a.gateway.Conns()
		conns["gateway"] = metrics.Conns{Open: open, Max: most}
	}
	if a.bounded != nil {
		conns["control"] = metrics.Conns{Open: a.bounded.Open(), Max: a.bounded.Max}
	}
	return conns
}

// unlogged returns the source of the number of lines that the access log lost, nil without
// one.
func (a *App) unlogged() func() int64 {
	if a.accessLog == nil {
		return nil
	}
	return a.accessLog.Dropped
}
