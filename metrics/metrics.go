// Package metrics measures the process for Prometheus.
//
// It owns which series there are and what they cost: on a call's way a handful of
// atomic additions, all else when somebody asks. It does not own what it measures,
// which it is told or asks functions for, nor who may read it (handlers). No
// label names a project, an owner or an address: these are the customers' affair,
// and would make as many series as there are of them.
//
// Standard: the Prometheus text format, by its own library.
package metrics

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"postern/policy"
)

// askWithin bounds how long one look may wait for the database.
const askWithin = 3 * time.Second

// Sources are what is asked when somebody looks.
type Sources struct {
	FeedAge func() time.Duration                            // how old what the gateway serves may be
	Jobs    func(context.Context) (map[string]int64, error) // by state
	Exports func(context.Context) (map[string]int64, error) // by state
}

// Metrics are the series of one process.
type Metrics struct {
	registry *prometheus.Registry
	calls    [6]prometheus.Observer        // by the first digit of the status; 0: ended without one
	refusals map[string]prometheus.Counter // by code; never added to
	other    prometheus.Counter            // with a code that policy does not have
}

// buckets of a call's duration, in seconds: from what the gateway adds itself to
// what an upstream may take.
var buckets = []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60}

// New makes the series. They are there from the start, at 0.
func New(from Sources) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), refusals: map[string]prometheus.Counter{}}
	durations := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "postern_gateway_call_duration_seconds",
		Help: "Time from a call's first byte to the end of its answer, by class of status.", Buckets: buckets}, []string{"status_class"})
	for digit := range m.calls {
		class := "none"
		if digit > 0 {
			class = strconv.Itoa(digit) + "xx"
		}
		m.calls[digit] = durations.WithLabelValues(class)
	}
	refusals := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "postern_gateway_refusals_total",
		Help: "Calls that the gateway answered itself, by code."}, []string{"code"})
	for _, denial := range policy.Denials() {
		m.refusals[denial.Code] = refusals.WithLabelValues(denial.Code)
	}
	m.other = refusals.WithLabelValues("other")
	age := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "postern_change_feed_age_seconds",
		Help: "Time since the gateway was last known to be up to date."}, func() float64 { return from.FeedAge().Seconds() })
	m.registry.MustRegister(durations, refusals, age,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		states{prometheus.NewDesc("postern_jobs", "Background jobs, by state.", []string{"state"}, nil), from.Jobs},
		states{prometheus.NewDesc("postern_exports", "Exports, by state.", []string{"state"}, nil), from.Exports})
	return m
}

// Call counts a call that is over. code is of the gateway's own answer, "" when
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

// Handler shows the series. What cannot be asked is left out and said in the
// answer's place of errors, the rest is shown.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError, Timeout: 2 * askWithin, MaxRequestsInFlight: 4})
}

// states collects how many things there are in each state.
type states struct {
	desc *prometheus.Desc
	ask  func(context.Context) (map[string]int64, error)
}

// Describe implements prometheus.Collector.
func (s states) Describe(out chan<- *prometheus.Desc) { out <- s.desc }

// Collect implements prometheus.Collector.
func (s states) Collect(out chan<- prometheus.Metric) {
	ctx, stop := context.WithTimeout(context.Background(), askWithin)
	defer stop()
	counts, err := s.ask(ctx)
	if err != nil {
		out <- prometheus.NewInvalidMetric(s.desc, err)
		return
	}
	for state, n := range counts {
		out <- prometheus.MustNewConstMetric(s.desc, prometheus.GaugeValue, float64(n), state)
	}
}
