package metrics

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Pool is the use of a pool of connections.
type Pool struct {
	Open, InUse, Max int
	Waits            int64         // requests that waited for a connection
	Waited           time.Duration // by all of them together
}

// Shared is the use of Redis.
type Shared struct {
	Up       bool
	Failures int64 // calls that could not be counted in Redis
	Pool     Pool
}

// Conns are the connections of a listener.
type Conns struct{ Open, Max int }

// Target is the health of a target of an environment, as this process sees it.
type Target struct {
	EnvironmentID string
	Position      int    // among the targets of the environment, from 1
	State         string // healthy, unhealthy or open
}

// targetStates are the states of a target; the first one is good.
var targetStates = []string{"healthy", "unhealthy", "open"}

// mostTargets bounds the number of targets that have a series. Those that aren't healthy come first.
const mostTargets = 1000

// Build has the version of a process, and its roles.
type Build struct{ Version, Roles string }

// newBuildInfo returns the gauge with the build as its labels, whose value is 1.
func newBuildInfo(b Build) prometheus.Gauge {
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "postern_build_info",
		Help: "Always 1, with the version and roles of the process, and the Go version.",
		ConstLabels: prometheus.Labels{
			"version":   b.Version,
			"roles":     b.Roles,
			"goversion": runtime.Version(),
		},
	})
	info.Set(1)
	return info
}

// described are the series of one process that are read from a source, without those that
// need a query.
type described struct {
	from  Sources
	value map[string]*prometheus.Desc
}

func newDescribed(from Sources) described {
	d := described{from: from, value: map[string]*prometheus.Desc{}}
	for _, series := range []struct {
		name, help string
		labels     []string
	}{
		{"postern_database_connections", "Connections to the database, by pool and state.", []string{"pool", "state"}},
		{"postern_database_connections_max", "The connection limit of a pool. 0 means no limit.", []string{"pool"}},
		{"postern_database_waits_total", "Requests that waited for a connection, by pool.", []string{"pool"}},
		{"postern_database_wait_seconds_total", "Time that requests waited for a connection.", []string{"pool"}},
		{"postern_redis_up", "1 if the last counted call was counted in Redis, otherwise 0.", nil},
		{"postern_redis_failures_total", "Calls that weren't counted in Redis because it was down.", nil},
		{"postern_redis_connections", "Connections to Redis, by state.", []string{"state"}},
		{"postern_connections", "Connections from callers, by listener.", []string{"listener"}},
		{"postern_connections_max", "The connection limit for callers, by listener.", []string{"listener"}},
		{
			"postern_certificate_end_timestamp_seconds",
			"When the first certificate of a listener expires, by the setting for its file.",
			[]string{"setting"},
		},
		{"postern_change_feed_age_seconds", "Time since the gateway was last known to be up to date.", nil},
		{"postern_change_feed_revision", "The newest revision that the gateway has read.", nil},
		{"postern_access_log_lost_total", "Lines that could not be written to the access log.", nil},
		{"postern_spans_lost_total", "Spans that the collector didn't accept.", nil},
		{"postern_projects_outdated", "Projects that can't be updated.", nil},
		{"postern_upstream_targets", "Targets with checks or a breaker in each state, as seen by this gateway.",
			[]string{"state"}},
		{"postern_upstream_target_healthy", "1 if a target with checks or a breaker is healthy for this gateway, " +
			"otherwise 0. target is its number in the environment.", []string{"environment", "target"}},
	} {
		d.value[series.name] = prometheus.NewDesc(series.name, series.help, series.labels, nil)
	}
	return d
}

// Describe implements prometheus.Collector.
func (d described) Describe(out chan<- *prometheus.Desc) {
	for _, desc := range d.value {
		out <- desc
	}
}

// Collect implements prometheus.Collector.
func (d described) Collect(out chan<- prometheus.Metric) {
	send := func(kind prometheus.ValueType, name string, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d.value[name], kind, value, labels...)
	}
	if d.from.Pools != nil {
		for name, pool := range d.from.Pools() {
			send(prometheus.GaugeValue, "postern_database_connections", float64(pool.InUse), name, "in_use")
			send(prometheus.GaugeValue, "postern_database_connections", float64(pool.Open-pool.InUse), name, "idle")
			send(prometheus.GaugeValue, "postern_database_connections_max", float64(pool.Max), name)
			send(prometheus.CounterValue, "postern_database_waits_total", float64(pool.Waits), name)
			send(prometheus.CounterValue, "postern_database_wait_seconds_total", pool.Waited.Seconds(), name)
		}
	}
	if d.from.Redis != nil {
		shared := d.from.Redis()
		up := 0.0
		if shared.Up {
			up = 1
		}
		send(prometheus.GaugeValue, "postern_redis_up", up)
		send(prometheus.CounterValue, "postern_redis_failures_total", float64(shared.Failures))
		send(prometheus.GaugeValue, "postern_redis_connections", float64(shared.Pool.InUse), "in_use")
		send(prometheus.GaugeValue, "postern_redis_connections", float64(shared.Pool.Open-shared.Pool.InUse), "idle")
	}
	if d.from.Conns != nil {
		for name, conns := range d.from.Conns() {
			send(prometheus.GaugeValue, "postern_connections", float64(conns.Open), name)
			send(prometheus.GaugeValue, "postern_connections_max", float64(conns.Max), name)
		}
	}
	if d.from.CertEnds != nil {
		for setting, ends := range d.from.CertEnds() {
			send(prometheus.GaugeValue, "postern_certificate_end_timestamp_seconds", float64(ends.Unix()), setting)
		}
	}
	if d.from.FeedAge != nil {
		send(prometheus.GaugeValue, "postern_change_feed_age_seconds", d.from.FeedAge().Seconds())
	}
	if d.from.Revision != nil {
		send(prometheus.GaugeValue, "postern_change_feed_revision", float64(d.from.Revision()))
	}
	if d.from.Unlogged != nil {
		send(prometheus.CounterValue, "postern_access_log_lost_total", float64(d.from.Unlogged()))
	}
	if d.from.Untraced != nil {
		send(prometheus.CounterValue, "postern_spans_lost_total", float64(d.from.Untraced()))
	}
	if d.from.Outdated != nil {
		send(prometheus.GaugeValue, "postern_projects_outdated", float64(d.from.Outdated()))
	}
	if d.from.Targets != nil {
		collectTargets(d.from.Targets(), func(name string, value float64, labels ...string) {
			send(prometheus.GaugeValue, name, value, labels...)
		})
	}
}

// collectTargets sends the series of targets.
func collectTargets(all []Target, send func(name string, value float64, labels ...string)) {
	counts := map[string]int{}
	for _, one := range all {
		counts[one.State]++
	}
	for _, state := range targetStates {
		send("postern_upstream_targets", float64(counts[state]), state)
	}
	good := func(one Target) int {
		if one.State == targetStates[0] {
			return 1
		}
		return 0
	}
	slices.SortFunc(all, func(a, b Target) int {
		return cmp.Or(cmp.Compare(good(a), good(b)), cmp.Compare(a.EnvironmentID, b.EnvironmentID),
			cmp.Compare(a.Position, b.Position))
	})
	for _, one := range all[:min(len(all), mostTargets)] {
		send("postern_upstream_target_healthy", float64(good(one)), one.EnvironmentID, strconv.Itoa(one.Position))
	}
}

// longestWait collects the longest wait, which takes a query.
type longestWait struct {
	desc *prometheus.Desc
	age  func(context.Context) (time.Duration, error) // nil: the series is left out
}

func newLongestWait(name, help string, age func(context.Context) (time.Duration, error)) longestWait {
	return longestWait{age: age, desc: prometheus.NewDesc(name, help, nil, nil)}
}

// Describe implements prometheus.Collector.
func (w longestWait) Describe(out chan<- *prometheus.Desc) { out <- w.desc }

// Collect implements prometheus.Collector.
func (w longestWait) Collect(out chan<- prometheus.Metric) {
	if w.age == nil {
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), queryTimeout)
	defer stop()
	age, err := w.age(ctx)
	if err != nil {
		out <- prometheus.NewInvalidMetric(w.desc, err)
		return
	}
	out <- prometheus.MustNewConstMetric(w.desc, prometheus.GaugeValue, age.Seconds())
}
