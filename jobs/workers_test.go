package jobs_test

import (
	"context"
	"testing"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/service/exports"
	"postern/testkit/state"
)

func TestWorkers_exports(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		f := newFixture(t, db)
		created, owner := f.create(t)
		early := f.request(t, owner, created.Project.ID)
		start(t, f.workers)
		f.waitReady(t, owner, early)
		f.waitReady(t, owner, f.request(t, owner, created.Project.ID))
		stop(t.Context(), t, f.workers)
	})
}

// A start that failed leaves no part of the workers running, and the next one works.
func TestWorkers_restart(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		f := newFixture(t, db)
		created, owner := f.create(t)
		rename := func(from, to string) {
			t.Helper()
			if _, err := db.SQL().ExecContext(t.Context(), "ALTER TABLE "+from+" RENAME TO "+to); err != nil {
				t.Fatal(err)
			}
		}
		rename("river_queue", "river_queue_away") // River reads it last, when its other parts run
		for range 2 {
			if err := f.workers.Start(t.Context()); err == nil {
				t.Fatal("the workers start without a table of River's")
			}
		}
		rename("river_queue_away", "river_queue")
		start(t, f.workers)
		f.waitReady(t, owner, f.request(t, owner, created.Project.ID))
		stop(t.Context(), t, f.workers)
	})
}

// blocked begins to build and returns when it is canceled.
type blocked struct {
	*exports.Service
	began chan struct{}
}

func (b blocked) Build(ctx context.Context, id string, final bool) error {
	service := *b.Service
	service.Store = blockedStore{Store: b.Store, create: func() error {
		close(b.began)
		<-ctx.Done()
		return ctx.Err()
	}}
	return service.Build(ctx, id, final)
}

type blockedStore struct {
	exports.Store
	create func() error
}

func (s blockedStore) Create(context.Context, exports.Attempt) (exports.Draft, error) {
	return nil, s.create()
}

// Workers that are stopped in the middle of an export release it, and the next ones
// finish it.
func TestWorkers_stop(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		f := newFixture(t, db)
		created, owner := f.create(t)
		began := make(chan struct{})
		first := newWorkers(t, db, blocked{f.exports, began})
		id := f.request(t, owner, created.Project.ID)
		start(t, first)
		select {
		case <-began:
		case <-time.After(patience):
			t.Fatal("no worker has taken the export")
		}
		over, end := context.WithCancel(t.Context())
		end() // no time to finish
		stop(over, t, first)
		row, err := db.Read(t.Context()).ExportByID(id)
		if err != nil {
			t.Fatal(err)
		}
		if row.State != contract.ExportBuilding {
			t.Errorf("after the stop the export is %s, want %s", row.State, contract.ExportBuilding)
		}
		if row.LeaseUntil == nil || row.LeaseUntil.After(models.Now()) {
			t.Errorf("after the stop the export is leased until %v", row.LeaseUntil)
		}

		start(t, f.workers)
		f.waitReady(t, owner, id)
		stop(t.Context(), t, f.workers)
	})
}
