package metrics_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"postern/platform/metrics"
)

func shown(m *metrics.Metrics) string {
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}

func TestCall_countedOnce(t *testing.T) {
	counts := func(context.Context) (map[string]int64, error) { return map[string]int64{"ready": 3}, nil }
	m := metrics.New(metrics.Sources{
		Refusals: []string{"key_frozen", "rate_limited"},
		FeedAge:  func() time.Duration { return 1500 * time.Millisecond },
		Jobs:     counts,
		Exports:  counts,
	})
	m.Call(200, "", 30*time.Millisecond)
	m.Call(200, "", 3*time.Millisecond)
	m.Call(403, "key_frozen", time.Millisecond)
	m.Call(403, "no code of ours", time.Millisecond)
	m.Call(0, "", time.Second)
	m.Call(-1, "", time.Second)
	m.Call(999, "", time.Second)
	text := shown(m)
	for _, want := range []string{
		`postern_gateway_call_duration_seconds_count{status_class="2xx"} 2`,
		`postern_gateway_call_duration_seconds_bucket{status_class="2xx",le="0.005"} 1`,
		`postern_gateway_call_duration_seconds_count{status_class="4xx"} 2`,
		`postern_gateway_call_duration_seconds_count{status_class="none"} 3`,
		`postern_gateway_call_duration_seconds_count{status_class="5xx"} 0`,
		`postern_gateway_refusals_total{code="key_frozen"} 1`,
		`postern_gateway_refusals_total{code="rate_limited"} 0`,
		`postern_gateway_refusals_total{code="other"} 1`,
		`postern_change_feed_age_seconds 1.5`,
		`postern_jobs{state="ready"} 3`, `postern_exports{state="ready"} 3`,
		"go_goroutines ", "process_resident_memory_bytes ",
	} {
		if !strings.Contains(text, "\n"+want) {
			t.Errorf("%s is missing", want)
		}
	}
}

func TestMetrics_parts(t *testing.T) {
	none := func(context.Context) (map[string]int64, error) { return nil, nil }
	m := metrics.New(metrics.Sources{
		FeedAge:   func() time.Duration { return 0 },
		Jobs:      none,
		Exports:   none,
		OldestJob: func(context.Context) (time.Duration, error) { return 90 * time.Second, nil },
		UsageLog:  func(context.Context) (time.Duration, error) { return 45 * time.Second, nil },
		Pools: func() map[string]metrics.Pool {
			feed := metrics.Pool{Open: 5, InUse: 2, Max: 9, Waits: 7, Waited: 1500 * time.Millisecond}
			return map[string]metrics.Pool{"feed": feed}
		},
		Redis: func() metrics.Shared {
			return metrics.Shared{Up: true, Failures: 4, Pool: metrics.Pool{Open: 3, InUse: 1}}
		},
		Conns:    func() map[string]metrics.Conns { return map[string]metrics.Conns{"gateway": {Open: 6, Max: 100}} },
		CertEnds: func() map[string]time.Time { return map[string]time.Time{"gateway-tls-cert": time.Unix(1e9, 0)} },
		Revision: func() int64 { return 42 },
		Outdated: func() int { return 2 },
		Unlogged: func() int64 { return 8 },
		Untraced: func() int64 { return 7 },
		Targets: func() []metrics.Target {
			return []metrics.Target{{"env_1", 1, "healthy"}, {"env_1", 2, "open"}, {"env_2", 1, "healthy"}}
		},
	})
	m.Request("api", 201, 3*time.Millisecond)
	m.Request("api", 0, time.Millisecond)
	m.Job("export", false, 2*time.Second)
	m.Job("export", true, time.Millisecond)
	text := shown(m)
	for _, want := range []string{
		`postern_control_request_duration_seconds_count{status_class="2xx",surface="api"} 1`,
		`postern_control_request_duration_seconds_count{status_class="none",surface="api"} 1`,
		`postern_job_duration_seconds_bucket{kind="export",outcome="done",le="1"} 0`,
		`postern_job_duration_seconds_count{kind="export",outcome="failed"} 1`,
		`postern_jobs_oldest_waiting_seconds 90`,
		`postern_certificate_end_timestamp_seconds{setting="gateway-tls-cert"} 1e+09`,
		`postern_usage_log_age_seconds 45`,
		`postern_database_connections{pool="feed",state="in_use"} 2`,
		`postern_database_connections{pool="feed",state="idle"} 3`,
		`postern_database_connections_max{pool="feed"} 9`,
		`postern_database_waits_total{pool="feed"} 7`,
		`postern_database_wait_seconds_total{pool="feed"} 1.5`,
		`postern_redis_up 1`, `postern_redis_failures_total 4`, `postern_redis_connections{state="idle"} 2`,
		`postern_connections{listener="gateway"} 6`, `postern_connections_max{listener="gateway"} 100`,
		`postern_change_feed_revision 42`, `postern_projects_outdated 2`,
		`postern_access_log_lost_total 8`,
		`postern_spans_lost_total 7`,
		`postern_upstream_targets{state="healthy"} 2`, `postern_upstream_targets{state="open"} 1`,
		`postern_upstream_targets{state="unhealthy"} 0`,
		`postern_upstream_target_healthy{environment="env_1",target="2"} 0`,
		`postern_upstream_target_healthy{environment="env_2",target="1"} 1`,
	} {
		if !strings.Contains(text, "\n"+want+"\n") {
			t.Errorf("%s is missing", want)
		}
	}
}

func TestMetrics_failingSource(t *testing.T) {
	broken := func(context.Context) (map[string]int64, error) { return nil, errors.New("no database") }
	m := metrics.New(metrics.Sources{FeedAge: func() time.Duration { return 0 }, Jobs: broken, Exports: broken})
	text := shown(m)
	if strings.Contains(text, "postern_jobs{") {
		t.Errorf("a failing source has a value: %.300s", text)
	}
	if !strings.Contains(text, "go_goroutines ") {
		t.Errorf("the other series are missing: %.300s", text)
	}
}

func TestCall_allocations(t *testing.T) {
	none := func(context.Context) (map[string]int64, error) { return nil, nil }
	m := metrics.New(metrics.Sources{
		Refusals: []string{"invalid_key"},
		FeedAge:  func() time.Duration { return 0 },
		Jobs:     none,
		Exports:  none,
	})
	if n := testing.AllocsPerRun(100, func() { m.Call(401, "invalid_key", time.Millisecond) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
