package usage_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"postern/models"
	"postern/service/usage"
	"postern/testkit/state"
)

// secondProject adds a project to the team.
func (w *world) secondProject() models.Project {
	w.t.Helper()
	p := w.project
	p.ID, p.Name = models.NewID("prj"), "small"
	if err := w.db.Write(w.t.Context(), func(tx *models.Tx) error { return tx.Insert(&p) }); err != nil {
		w.t.Fatal(err)
	}
	return p
}

// observeMany records a call by each of n owners, and flushes.
func (w *world) observeMany(r *usage.Recorder, at time.Time, n int) {
	w.t.Helper()
	for i := range n {
		c := w.call(at)
		c.Owner = fmt.Sprint("owner-", i)
		r.Observe(c)
	}
	if err := r.Flush(w.t.Context()); err != nil {
		w.t.Error(err)
	}
}

func (w *world) logSince() int64 {
	w.t.Helper()
	since, err := w.db.Read(w.t.Context()).UsageLogSince()
	if err != nil {
		w.t.Fatal(err)
	}
	return since
}

// manyOwners is more than a flush adds to rows, and more than a transaction folds.
const manyOwners = 4500

func TestFlush_manySums(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		small := w.secondProject()
		noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
		c := w.call(noon)
		c.ProjectID = small.ID
		w.Recorder.Observe(c)
		w.observeMany(w.Recorder, noon, manyOwners)
		if n := w.rows(); n != 0 || w.logSince() == 0 {
			t.Fatalf("%d calls of the large project were added to rows at once, want them in the log", n)
		}
		sums, err := db.Read(t.Context()).UsageOf(small.ID, 0, 1<<40, nil, 1)
		if err != nil || sums[0].Calls != 1 {
			t.Errorf("%+v of the small project are in the rows, %v; want its call", sums, err)
		}
		if err := w.Recorder.FoldLog(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := w.rows(); n != manyOwners || w.logSince() != 0 {
			t.Errorf("%d calls are in the rows, want %d; log since %d", n, manyOwners, w.logSince())
		}
		key, err := db.Read(t.Context()).KeyByID(w.key.ID)
		if err != nil || key.LastUsedAt == nil || !key.LastUsedAt.Equal(noon) {
			t.Errorf("last use %v, %v; want %v", key.LastUsedAt, err, noon)
		}
	})
}

func TestFoldLog(t *testing.T) {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	t.Run("replicas at the same time", func(t *testing.T) {
		state.Each(t, func(t *testing.T, db *models.DB) {
			w := newWorld(t, db)
			const replicas, flushes, owners = 3, 4, 2500
			var running sync.WaitGroup
			for range replicas {
				r := w.recorder()
				running.Go(func() {
					for range flushes {
						w.observeMany(r, noon, owners)
						if err := r.FoldLog(t.Context()); err != nil {
							t.Error(err)
						}
					}
				})
			}
			running.Wait()
			if err := w.Recorder.FoldLog(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := w.rows(); n != replicas*flushes*owners || w.logSince() != 0 {
				t.Errorf("%d calls are in the rows, want %d", n, replicas*flushes*owners)
			}
		})
	})
	t.Run("interrupted at each statement", func(t *testing.T) {
		state.Each(t, func(t *testing.T, db *models.DB) {
			w := newWorld(t, db)
			var statements int
			var interrupt context.CancelFunc
			err := db.OnStatement(func(context.Context) {
				if statements--; statements == 0 {
					interrupt()
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			const owners = 2100 // in two transactions
			total := int64(0)
			for after := 1; ; after++ {
				w.observeMany(w.Recorder, noon, owners)
				total += owners
				var ctx context.Context
				ctx, interrupt = context.WithCancel(t.Context())
				statements = after
				err := w.Recorder.FoldLog(ctx)
				done := statements > 0
				interrupt()
				statements = 0
				if n := w.rows(); n > total || err == nil && n != total {
					t.Fatalf("interrupted after %d statements: %d of %d calls in rows, %v", after, n, total, err)
				}
				if err := w.Recorder.FoldLog(t.Context()); err != nil {
					t.Fatal(err)
				}
				if n := w.rows(); n != total || w.logSince() != 0 {
					t.Fatalf("folded again after %d statements: %d of %d calls in rows", after, n, total)
				}
				if done {
					break
				}
			}
		})
	})
	t.Run("a project that was deleted", func(t *testing.T) {
		state.Each(t, func(t *testing.T, db *models.DB) {
			w := newWorld(t, db)
			w.project.ID = models.NewID("prj")
			w.observeMany(w.Recorder, noon, manyOwners)
			if err := w.Recorder.FoldLog(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := w.rows(); n != 0 || w.logSince() != 0 {
				t.Errorf("%d calls of a project without a row were added, want none", n)
			}
		})
	})
	t.Run("an entry that cannot be read", func(t *testing.T) {
		state.Each(t, func(t *testing.T, db *models.DB) {
			w := newWorld(t, db)
			err := db.Write(t.Context(), func(tx *models.Tx) error {
				entry := models.UsageLogEntry{ID: "ulg_0", WrittenAt: 1, Sums: 1, Payload: []byte{9}}
				return tx.AppendUsageLog([]models.UsageLogEntry{entry})
			})
			if err != nil {
				t.Fatal(err)
			}
			w.observeMany(w.Recorder, noon, manyOwners)
			if err := w.Recorder.FoldLog(t.Context()); err == nil {
				t.Error("folding an entry of another format succeeded")
			}
			if n := w.rows(); n != manyOwners || w.logSince() != 1 {
				t.Errorf("%d calls are in the rows, want those of the other entry; log since %d", n, w.logSince())
			}
		})
	})
}

func TestClose(t *testing.T) {
	t.Run("folds the log", func(t *testing.T) {
		state.Each(t, func(t *testing.T, db *models.DB) {
			w := newWorld(t, db)
			w.observeMany(w.Recorder, time.Now(), manyOwners)
			if err := w.Recorder.Close(t.Context()); err != nil || w.rows() != manyOwners {
				t.Errorf("%d calls are in the rows, %v", w.rows(), err)
			}
		})
	})
}
