package exports_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"postern/core/contract"
	"postern/models"
	"postern/service/exports"
	"postern/testkit/state"
)

// The context does not end here, so that the build itself has to end its goroutines.
func TestBuild_goroutines(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		e := w.request(t, gateway)
		// A pool starts a goroutine with its first connection.
		if err := db.Consistent(t.Context(), func(*models.Tx) error { return nil }); err != nil {
			t.Fatal(err)
		}
		before := goleak.IgnoreCurrent()
		if err := w.Build(context.Background(), e.ID, true); err != nil {
			t.Fatal(err)
		}
		goleak.VerifyNone(t, before)
	})
}

func TestBuild_manyWorkers(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		counting := &countingStore{Store: w.dir}
		w.Store = counting
		e := w.request(t, gateway)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if err := w.Build(t.Context(), e.ID, true); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n := counting.created.Load(); n != 1 || w.get(t, e.ID).State != contract.ExportReady {
			t.Errorf("built %d times, now %s", n, w.get(t, e.ID).State)
		}
	})
}

type countingStore struct {
	exports.Store
	created atomic.Int32
}

func (s *countingStore) Create(ctx context.Context, a exports.Attempt) (exports.Draft, error) {
	s.created.Add(1)
	return s.Store.Create(ctx, a)
}

func TestBuild_stoppedWorker(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		e := w.request(t, gateway)
		ctx, stop := context.WithCancel(t.Context())
		w.Store = &stoppingStore{Store: w.dir, stop: stop}
		if err := w.Build(ctx, e.ID, true); err == nil {
			t.Fatal("a stopped worker has finished")
		}
		w.Store = w.dir
		if err := w.Build(t.Context(), e.ID, true); err != nil || w.get(t, e.ID).State != contract.ExportReady {
			t.Errorf("the next worker: %v, %s", err, w.get(t, e.ID).State)
		}
		if parts, _ := filepath.Glob(filepath.Join(string(w.dir), "*.part")); len(parts) != 0 {
			t.Errorf("left behind: %v", parts)
		}
	})
}

type stoppingStore struct {
	exports.Store
	stop func()
}

func (s *stoppingStore) Create(ctx context.Context, a exports.Attempt) (exports.Draft, error) {
	s.stop()
	return s.Store.Create(ctx, a)
}

func TestBuild_deadWorker(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		e := w.request(t, gateway)
		past := models.Now().Add(-time.Minute)
		err := db.Write(t.Context(), func(tx *models.Tx) error {
			_, err := tx.LeaseExport(e.ID, "lse_dead", past, past.Add(time.Second))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Upkeep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(w.queue.ids) != 2 || w.queue.ids[1] != e.ID || w.get(t, e.ID).State != contract.ExportQueued {
			t.Errorf("queued: %v, state %s", w.queue.ids, w.get(t, e.ID).State)
		}
	})
}

func TestBuild_soleOwner(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		e := w.request(t, gateway)
		err := db.Write(t.Context(), func(tx *models.Tx) error {
			_, err := tx.LeaseExport(e.ID, "lse_killed", models.Now(), models.Now().Add(time.Hour))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		draft, err := w.dir.Create(t.Context(), exports.Attempt{Export: e.ID, Lease: "lse_killed"})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(draft, "half a zip")
		if err := w.TakeOver(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := w.Build(t.Context(), e.ID, true); err != nil || w.get(t, e.ID).State != contract.ExportReady {
			t.Errorf("after the take-over: %v, %s", err, w.get(t, e.ID).State)
		}
		if left, _ := os.ReadDir(string(w.dir)); len(left) != 1 || filepath.Ext(left[0].Name()) != ".zip" {
			t.Errorf("in the directory: %v, want one zip", left)
		}
	})
}
