package usage_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"postern/core/contract"
	"postern/models"
	"postern/testkit/state"
)

func TestShadowRefusals(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		now := models.Now()
		version := models.Version{
			ID: models.NewID("ver"), ProjectID: w.project.ID, Name: "ruled",
			CreatedAt: now, UpdatedAt: now,
		}
		if err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(&version) }); err != nil {
			t.Fatal(err)
		}
		observe := func(at time.Time, rule, code string) {
			call := w.call(at)
			call.VersionID, call.ShadowRule, call.ShadowCode = version.ID, rule, code
			w.Recorder.Observe(call)
		}
		list := func() []contract.ShadowRefusal {
			t.Helper()
			if err := w.Recorder.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			in := contract.VersionPath{ProjectPath: shop, Version: "ruled"}
			got, err := w.ShadowRefusals(t.Context(), w.owner, in)
			if err != nil {
				t.Fatal(err)
			}
			return got.Items
		}
		if got := list(); len(got) != 0 {
			t.Errorf("at first: %+v", got)
		}
		observe(now.Add(-40*24*time.Hour), "rul_1", "not_in_group") // forgotten
		observe(now.Add(-24*time.Hour), "rul_1", "not_in_group")
		observe(now, "rul_1", "not_in_group")
		observe(now, "rul_1", "insufficient_scope")
		observe(now, "", "")
		list()
		observe(now, "default", "no_rule")
		observe(now, "rul_1", "not_in_group")
		want := []contract.ShadowRefusal{
			{Rule: "default", Code: "no_rule", Calls: 1, LastAt: now},
			{Rule: "rul_1", Code: "insufficient_scope", Calls: 1, LastAt: now},
			{Rule: "rul_1", Code: "not_in_group", Calls: 3, LastAt: now},
		}
		if diff := cmp.Diff(want, list(), cmpopts.EquateApproxTime(time.Second)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}
