package jobs_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"postern/models"
	"postern/platform/fault"
	"postern/service/exports"
	"postern/testkit"
	"postern/testkit/state"
)

// waiting is told to come again more often than a job is tried.
type waiting struct {
	*exports.Service

	tries chan bool // whether each was the last attempt
}

const waits = 5

func (w waiting) Build(ctx context.Context, id string, final bool) error {
	w.tries <- final
	if len(w.tries) <= waits {
		return fault.New(fault.Unavailable, "exports_unavailable", "Wait.").After(time.Millisecond)
	}
	return w.Service.Build(ctx, id, final)
}

func TestExports_waiting(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		f := newFixture(t, db)
		created, owner := f.create(t)
		id := f.request(t, owner, created.Project.ID)
		building := waiting{f.exports, make(chan bool, 2*waits)}
		workers := newWorkers(t, db, building)
		start(t, workers)
		f.waitReady(t, owner, id)
		stop(t.Context(), t, workers)
		if n := len(building.tries); n != waits+1 {
			t.Errorf("built %d times, want %d", n, waits+1)
		}
		for range len(building.tries) {
			if <-building.tries {
				t.Error("an attempt was the last one")
			}
		}
	})
}

// hanging builds until it is canceled.
type hanging struct {
	*exports.Service

	builds, upkeeps *atomic.Int32
}

func (h hanging) Build(ctx context.Context, _ string, _ bool) error {
	h.builds.Add(1)
	<-ctx.Done()
	return ctx.Err()
}

func (h hanging) Upkeep(context.Context) error {
	h.upkeeps.Add(1)
	return nil
}

// There are more exports than workers of any queue, and they are there first.
func TestExports_hanging(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		f := newFixture(t, db)
		created, owner := f.create(t)
		for range 5 {
			f.request(t, owner, created.Project.ID)
		}
		hung := hanging{f.exports, new(atomic.Int32), new(atomic.Int32)}
		workers := newWorkers(t, db, hung)
		start(t, workers)
		testkit.Eventually(t, "exports and upkeep", func() bool {
			return hung.builds.Load() > 1 && hung.upkeeps.Load() > 0
		})
		over, end := context.WithCancel(t.Context())
		end() // no time to finish
		stop(over, t, workers)
	})
}
