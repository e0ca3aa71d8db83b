package usage_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/testkit/state"
)

func TestInvalidRequests(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		now := models.Now()
		version := models.Version{
			ID: models.NewID("ver"), ProjectID: w.project.ID, Name: "described",
			CreatedAt: now, UpdatedAt: now,
		}
		if err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(&version) }); err != nil {
			t.Fatal(err)
		}
		observe := func(at time.Time, operation, problem string) {
			call := w.call(at)
			call.VersionID, call.InvalidAt, call.InvalidWhy = version.ID, operation, problem
			w.Recorder.Observe(call)
		}
		named := func(version string) contract.VersionPath {
			return contract.VersionPath{ProjectPath: contract.ProjectPath{Project: w.project.ID}, Version: version}
		}
		list := func() []contract.InvalidRequest {
			t.Helper()
			if err := w.Recorder.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			got, err := w.InvalidRequests(t.Context(), w.owner, named("described"))
			if err != nil {
				t.Fatal(err)
			}
			return got.Items
		}
		if got := list(); len(got) != 0 {
			t.Errorf("at first: %+v", got)
		}
		observe(now.Add(-40*24*time.Hour), "GET /a", "forgotten")
		observe(now.Add(-24*time.Hour), "GET /a", "yesterday")
		observe(now, "GET /a", "today")
		observe(now, "", "")
		list()
		observe(now, "PUT /b", "once")
		observe(now, "GET /a", "last")
		want := []contract.InvalidRequest{
			{Operation: "GET /a", Calls: 3, Problem: "last", LastAt: now},
			{Operation: "PUT /b", Calls: 1, Problem: "once", LastAt: now},
		}
		if diff := cmp.Diff(want, list(), cmpopts.EquateApproxTime(time.Second)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		_, err := w.InvalidRequests(t.Context(), w.owner, named("other"))
		if fault.KindOf(err) != fault.NotFound {
			t.Errorf("another version: %v", err)
		}
	})
}
