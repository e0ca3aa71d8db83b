package handlers_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"postern/models"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// BenchmarkPages measures every page of the dashboard as the owner of a large team, until its last byte: the median
// and the 95th percentile in milliseconds, the CPU time of this process, which includes SQLite but not PostgreSQL, and
// the number of statements.
//
//	go run ./tools/withpostgres go test -run - -bench Pages -benchtime 50x -timeout 1h ./handlers
func BenchmarkPages(b *testing.B) {
	state.EachBenchmark(b, func(b *testing.B, db *models.DB) {
		var statements atomic.Int64
		check(b, db.OnStatement(func(context.Context) { statements.Add(1) }))
		o := controlplane.NewFixture(b, db)
		has := o.NewAllObjects(b, "webhook", allObjects)
		large := stock{
			projects: 10_000,
			keys:     1_000_000,
			busiest:  200_000,
			inUse:    1000,
			called:   1000,
			entries:  100_000,
			users:    10_000,
		}
		large.fill(b, o, has)
		for _, page := range pagesOf(b, o, has) {
			b.Run(strings.TrimPrefix(page.name(), "/"), func(b *testing.B) {
				var took []time.Duration
				before, busy := statements.Load(), processTime(b)
				for b.Loop() {
					began := time.Now()
					status := page.load(o)
					took = append(took, time.Since(began))
					if status >= 500 {
						b.Fatalf("status %d", status)
					}
				}
				busy = processTime(b) - busy
				slices.Sort(took)
				b.ReportMetric(milliseconds(busy)/float64(len(took)), "cpu-ms")
				b.ReportMetric(milliseconds(took[len(took)/2]), "p50-ms")
				b.ReportMetric(milliseconds(took[len(took)*95/100]), "p95-ms")
				b.ReportMetric(float64(statements.Load()-before)/float64(len(took)), "statements")
				b.ReportMetric(0, "ns/op")
			})
		}
	})
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// processTime returns the CPU time that this process has used.
func processTime(tb testing.TB) time.Duration {
	tb.Helper()
	var used syscall.Rusage
	check(tb, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// load sends the request that a browser sends, and returns the status of the answer.
func (p pageRequest) load(o *controlplane.Fixture) int {
	r := httptest.NewRequest(p.method, p.path, strings.NewReader(p.form))
	r.Host = "localhost"
	r.Header.Set("Accept", "text/html")
	r.Header.Set("Accept-Encoding", "gzip, br")
	r.Header.Set(o.Owner[0], o.Owner[1])
	if p.method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	w := httptest.NewRecorder()
	o.Handler.ServeHTTP(w, r)
	return w.Code
}
