// Package metrics exposes the process's measurements to Prometheus.
//
// It owns the series and their cost: a proxied call adds to a few atomic counters,
// everything else is collected when the series are read. It leaves authorization to
// handlers and the values to its Sources. No label names a project, an owner or an
// address: that is customers' data, and would create as many series as there are
// values. Targets have the ID of their environment and their number in it, and there
// are at most mostTargets of them.
//
// Standard: the Prometheus text exposition format, by prometheus/client_golang.
package metrics

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// queryTimeout bounds how long a scrape waits for the database.
const queryTimeout = 3 * time.Second

// Sources supply the values that are collected when the series are read.
type Sources struct {
	Build    Build
	Refusals []string // every code that the gateway refuses calls with

	// Without these, their series are left out.
	FeedAge   func() time.Duration                            // since the gateway was last known to be up to date
	Jobs      func(context.Context) (map[string]int64, error) // by state
	Exports   func(context.Context) (map[string]int64, error) // by state
	OldestJob func(context.Context) (time.Duration, error)    // since it could have begun; 0 if none waits
	UsageLog  func(context.Context) (time.Duration, error)    // since its oldest entry was written; 0 without one
	Pools     func() map[string]Pool                          // of connections to the database, by name
	Redis     func() Shared
	Conns     func() map[string]Conns     // by listener
	CertEnds  func() map[string]time.Time // end of the first certificate to end, by the setting that names its file
	Revision  func() int64                // newest one that the gateway has read
	Outdated  func() int                  // projects that cannot be brought up to date
	Unlogged  func() int64                // lines that the access log lost
	Untraced  func() int64                // spans that could not be sent
	Targets   func() []Target             // about whose health something decides
}

// Metrics holds the series of one process.
type Metrics struct {
	registry *prometheus.Registry
	calls    [6]prometheus.Observer        // by the first digit of the status; 0: the call ended without one
	refusals map[string]prometheus.Counter // by code; not written to after New
	other    prometheus.Counter            // codes that Sources.Refusals does not list
	requests *prometheus.HistogramVec      // of the control plane
	jobs     *prometheus.HistogramVec
}

// durationBuckets are the upper bounds of the call histogram, in seconds: from
// what the gateway itself adds to what an upstream may take.
var durationBuckets = []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60}

// jobBuckets are the upper bounds of the histogram of jobs, in seconds: from an upkeep that
// finds nothing to do to the export of a million keys.
var jobBuckets = []float64{0.01, 0.05, 0.25, 1, 5, 30, 120, 600, 3600}

// New returns Metrics with every series present and at 0.
func New(from Sources) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), refusals: map[string]prometheus.Counter{}}
	durations := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "postern_gateway_call_duration_seconds",
		Help:    "Time from a call's first byte to the end of its response, by status class.",
		Buckets: durationBuckets,
	}, []string{"status_class"})
	for digit := range m.calls {
		class := "none"
		if digit > 0 {
			class = strconv.Itoa(digit) + "xx"
		}
		m.calls[digit] = durations.WithLabelValues(class)
	}
	refusals := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "postern_gateway_refusals_total",
		Help: "Calls that the gateway answered itself, by code.",
	}, []string{"code"})
	for _, code := range from.Refusals {
		m.refusals[code] = refusals.WithLabelValues(code)
	}
	m.other = refusals.WithLabelValues("other")
	m.requests = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "postern_control_request_duration_seconds",
		Help:    "Time that the control plane took to answer a request, by surface and status class.",
		Buckets: durationBuckets,
	}, []string{"surface", "status_class"})
	m.jobs = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "postern_job_duration_seconds",
		Help:    "Time that one attempt of a background job took, by kind and outcome.",
		Buckets: jobBuckets,
	}, []string{"kind", "outcome"})
	m.registry.MustRegister(durations, refusals, newBuildInfo(from.Build),
		m.requests, m.jobs, newDescribed(from),
		newLongestWait("postern_jobs_oldest_waiting_seconds",
			"How long the oldest waiting job has been ready to start. 0 if no job is waiting.", from.OldestJob),
		newLongestWait("postern_usage_log_age_seconds",
			"How long counted calls have been waiting to be added to usage. 0 if none are waiting.", from.UsageLog),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		byState("postern_jobs", "Background jobs, by state.", from.Jobs),
		byState("postern_exports", "Exports, by state.", from.Exports))
	return m
}

// Call counts a finished call. code is the gateway's own refusal code, or "" if
// the upstream answered.
func (m *Metrics) Call(status int, code string, took time.Duration) {
	class := status / 100
	if class < 0 || class >= len(m.calls) {
		class = 0
	}
	m.calls[class].Observe(took.Seconds())
	if code == "" {
		return
	}
	if counter := m.refusals[code]; counter != nil {
		counter.Inc()
		return
	}
	m.other.Inc()
}

// Request counts a finished request to the control plane. The surfaces are few and fixed.
func (m *Metrics) Request(surface string, status int, took time.Duration) {
	m.requests.WithLabelValues(surface, classOf(status)).Observe(took.Seconds())
}

// classOf returns such as 2xx; none for a request without an answer.
func classOf(status int) string {
	if status < 100 || status > 599 {
		return "none"
	}
	return strconv.Itoa(status/100) + "xx"
}

// Job counts a finished attempt at a job. Its kind is one that the program has a worker for.
func (m *Metrics) Job(kind string, failed bool, took time.Duration) {
	outcome := "done"
	if failed {
		outcome = "failed"
	}
	m.jobs.WithLabelValues(kind, outcome).Observe(took.Seconds())
}

// Handler serves the series. A source that fails is left out and named in the
// response; the other series are served.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorHandling:       promhttp.ContinueOnError,
		Timeout:             2 * queryTimeout,
		MaxRequestsInFlight: 4,
	})
}

// stateCounter collects a gauge with one value per state.
type stateCounter struct {
	desc  *prometheus.Desc
	count func(context.Context) (map[string]int64, error)
}

func byState(name, help string, count func(context.Context) (map[string]int64, error)) stateCounter {
	return stateCounter{prometheus.NewDesc(name, help, []string{"state"}, nil), count}
}

// Describe implements prometheus.Collector.
func (s stateCounter) Describe(out chan<- *prometheus.Desc) { out <- s.desc }

// Collect implements prometheus.Collector.
func (s stateCounter) Collect(out chan<- prometheus.Metric) {
	if s.count == nil {
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), queryTimeout)
	defer stop()
	counts, err := s.count(ctx)
	if err != nil {
		out <- prometheus.NewInvalidMetric(s.desc, err)
		return
	}
	for state, n := range counts {
		out <- prometheus.MustNewConstMetric(s.desc, prometheus.GaugeValue, float64(n), state)
	}
}
