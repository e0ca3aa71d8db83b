package usage_test

import (
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"postern/models"
	"postern/service/usage"
	"postern/testkit/state"
)

// inUse is a number of keys in a number of projects, each key used once a second.
type inUse struct{ keys, projects int }

func (n inUse) String() string { return fmt.Sprintf("%d_keys_of_%d_projects", n.keys, n.projects) }

// calls returns a call with each key, all of which are in the database.
func (n inUse) calls(b *testing.B, db *models.DB) []usage.Call {
	b.Helper()
	w := newWorld(b, db)
	projects, keys := make([]models.Project, n.projects), make([]models.APIKey, n.keys)
	calls := make([]usage.Call, n.keys)
	for i := range projects {
		projects[i] = w.project
		projects[i].ID, projects[i].Name = models.NewID("prj"), fmt.Sprint("project-", i)
	}
	for i := range keys {
		keys[i] = w.key
		keys[i].ID, keys[i].Hash = models.NewID("key"), []byte(fmt.Sprintf("%032d", i))
		c := w.call(time.Now())
		c.ProjectID, c.CredentialID = projects[i%n.projects].ID, keys[i].ID
		c.Owner, c.Route = fmt.Sprint("customer-", i/4), "/orders/{id}"
		calls[i] = c
	}
	insert(b, db, projects)
	insert(b, db, keys)
	return calls
}

// insert inserts rows, with fewer parameters at once than a statement may have.
func insert[T any](b *testing.B, db *models.DB, rows []T) {
	b.Helper()
	for some := range slices.Chunk(rows, 500) {
		if err := db.Write(b.Context(), func(tx *models.Tx) error { return tx.Insert(&some) }); err != nil {
			b.Fatal(err)
		}
	}
}

var benchInUse = []inUse{{100, 1}, {10_000, 10}, {10_000, 1000}}

// BenchmarkFlush is what Run does each second.
func BenchmarkFlush(b *testing.B) {
	for _, size := range benchInUse {
		b.Run(size.String(), func(b *testing.B) {
			state.EachBenchmark(b, func(b *testing.B, db *models.DB) {
				r := usage.NewRecorder(db, slog.New(slog.DiscardHandler))
				calls := size.calls(b, db)
				observe(r, calls)
				if err := r.Flush(b.Context()); err != nil { // adds the rows, which the next flushes add to
					b.Fatal(err)
				}
				before := writtenBytes()
				for b.Loop() {
					b.StopTimer()
					observe(r, calls)
					b.StartTimer()
					if err := r.Flush(b.Context()); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(writtenBytes()-before)/float64(b.N)/1e6, "MB-written/op")
			})
		})
	}
}

func observe(r *usage.Recorder, calls []usage.Call) {
	for i := range calls {
		r.Observe(calls[i])
	}
}

// writtenBytes is how much this process has written to files and connections, where the system counts it.
func writtenBytes() (n int64) {
	counters, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(counters)) {
		if _, err := fmt.Sscanf(line, "wchar: %d", &n); err == nil {
			return n
		}
	}
	return 0
}

// BenchmarkFoldLog is what one process does each minute, with what 60 flushes have written.
func BenchmarkFoldLog(b *testing.B) {
	for _, size := range benchInUse[1:] {
		b.Run(size.String(), func(b *testing.B) {
			state.EachBenchmark(b, func(b *testing.B, db *models.DB) {
				r := usage.NewRecorder(db, slog.New(slog.DiscardHandler))
				calls := size.calls(b, db)
				var written int64
				for b.Loop() {
					b.StopTimer()
					for range 60 {
						observe(r, calls)
						if err := r.Flush(b.Context()); err != nil {
							b.Fatal(err)
						}
					}
					before := writtenBytes()
					b.StartTimer()
					if err := r.FoldLog(b.Context()); err != nil {
						b.Fatal(err)
					}
					written += writtenBytes() - before
				}
				b.ReportMetric(float64(written)/float64(b.N)/1e6, "MB-written/op")
			})
		})
	}
}
