package exports_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/service/exports"
	"postern/testkit/state"
)

// files returns the exports that a store has files of.
func files(t *testing.T, store exports.Store) []string {
	t.Helper()
	var list []string
	for file, err := range store.List(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, file.Export)
	}
	slices.Sort(list)
	return list
}

// leave writes a file as a worker that is killed leaves it.
func leave(t *testing.T, store exports.Store, export string, whole bool) {
	t.Helper()
	draft, err := store.Create(t.Context(), exports.Attempt{Export: export, Lease: "lse_killed"})
	if err == nil {
		_, err = fmt.Fprint(draft, "left behind")
	}
	if err == nil && whole {
		err = draft.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestSweep(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		ready, queued, cancelled := w.request(t, gateway), w.request(t, gateway), w.request(t, gateway)
		if err := w.Build(t.Context(), ready.ID, true); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Cancel(t.Context(), w.owner, cancelled.Path()); err != nil {
			t.Fatal(err)
		}
		leave(t, w.dir, queued.ID, false)
		leave(t, w.dir, cancelled.ID, false)
		leave(t, w.dir, "exp_unknown", true)
		if err := w.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		// The unknown one is young, and may be another installation's.
		want := []string{ready.ID, queued.ID, "exp_unknown"}
		slices.Sort(want)
		if got := files(t, w.dir); !slices.Equal(got, want) {
			t.Errorf("files of %v are left, want those of %v", got, want)
		}
		w.TTL = -time.Minute
		if err := w.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		want = slices.DeleteFunc(want, func(id string) bool { return id == "exp_unknown" })
		if got := files(t, w.dir); !slices.Equal(got, want) {
			t.Errorf("after their time, files of %v are left, want those of %v", got, want)
		}
		if len(w.download(t, ready.ID)) == 0 {
			t.Error("the finished export is empty")
		}
	})
}

// An attempt that was overtaken does not replace the zip of the one that finished, and
// leaves nothing.
func TestBuild_overtaken(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		e := w.request(t, gateway)
		fast := *w.Service
		w.Store = &changingStore{Store: w.dir, change: func() {
			err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.ReleaseLeases(models.Now()) })
			if err == nil {
				err = fast.Build(t.Context(), e.ID, true)
			}
			if err != nil {
				t.Error(err)
			}
		}}
		if err := w.Build(t.Context(), e.ID, true); err == nil {
			t.Error("the overtaken attempt has finished")
		}
		got := w.get(t, e.ID)
		if got.State != contract.ExportReady || int64(len(w.download(t, e.ID))) != got.SizeBytes {
			t.Errorf("state %s, a zip of %d bytes, want %d", got.State, len(w.download(t, e.ID)), got.SizeBytes)
		}
		if left := files(t, w.dir); len(left) != 1 {
			t.Errorf("%d files are left, want the one of the attempt that finished", len(left))
		}
	})
}
