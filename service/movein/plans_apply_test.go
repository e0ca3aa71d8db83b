package movein_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"postern/core/contract"
	"postern/core/movein"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/testkit"
)

// writer answers for the service that writes plans.
type writer func(plan *movein.Plan) (contract.MovedIn, error)

func (w writer) Write(_ context.Context, _ access.Principal, _ string, p *movein.Plan) (contract.MovedIn, error) {
	return w(p)
}

func (writer) Undo(context.Context, access.Principal, string) error { return nil }

// A plan is written once, as it was seen, and is there again if it can't be written.
func TestPlans_apply(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		p := f.create(t)
		apply := func(etag string) (contract.MovedIn, error) {
			return f.Apply(t.Context(), f.owner, contract.ImportApplication{
				ImportPath: path(p), Condition: contract.Condition{IfMatch: etag},
			})
		}
		change := contract.ImportPlanUpdate{ImportPath: path(p)}
		f.Writer = writer(func(*movein.Plan) (contract.MovedIn, error) {
			// While it is written, it can't be changed, deleted, or applied again.
			_, again := apply(p.ETag)
			_, changed := f.Update(t.Context(), f.owner, change)
			_, deleted := f.Delete(t.Context(), f.owner, path(p))
			for _, err := range []error{again, changed, deleted} {
				if fault.CodeOf(err) != "import_applying" {
					t.Errorf("while it is written: %v", err)
				}
			}
			return contract.MovedIn{}, errors.New("it can't be written")
		})
		if _, err := apply(""); pointerOf(err) != "/If-Match" {
			t.Errorf("without an ETag: %v", err)
		}
		if _, err := apply(p.ETag); err == nil || !strings.Contains(err.Error(), "it can't be written") {
			t.Errorf("error %v", err)
		}
		same, err := f.Get(t.Context(), f.owner, path(p))
		if err != nil || same.State != contract.ImportPlanned || same.ETag != p.ETag {
			t.Fatalf("after the failure: %+v, %v", same, err)
		}
		f.Writer = writer(func(plan *movein.Plan) (contract.MovedIn, error) {
			if plan.Keys.Imported != 1 || len(plan.OwnerKeys) != 1 || len(plan.OwnerKeys[0]) != 1 {
				t.Errorf("the plan has the keys %v", plan.OwnerKeys)
			}
			return contract.MovedIn{ID: "imp_1", Created: contract.MovedCounts{Owners: 1}}, nil
		})
		if did, err := apply(p.ETag); err != nil || did.ID != "imp_1" {
			t.Errorf("%+v, %v", did, err)
		}
		if _, err := apply(p.ETag); fault.KindOf(err) != fault.NotFound {
			t.Errorf("again: %v", err)
		}
		if n := count(t, f.db, "import_plans"); n != 0 {
			t.Errorf("%d plans are left", n)
		}
	})
}

// A plan that is applied is claimed for a short time, again and again, so that a killed process doesn't block it.
func TestPlans_lease(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		p := f.create(t)
		until := func() time.Time {
			t.Helper()
			row, err := f.db.Read(t.Context()).ImportPlanByID(p.ID)
			if err != nil {
				t.Fatal(err)
			}
			if row.ApplyingUntil == nil {
				return time.Time{}
			}
			return *row.ApplyingUntil
		}
		apply := func() error {
			_, err := f.Apply(t.Context(), f.owner, contract.ImportApplication{
				ImportPath: path(p), Condition: contract.Condition{IfMatch: p.ETag},
			})
			return err
		}
		f.Writer = writer(func(*movein.Plan) (contract.MovedIn, error) {
			if most := models.Now().Add(time.Minute); until().After(most) {
				t.Errorf("it is claimed until %v, want %v at most", until(), most)
			}
			return contract.MovedIn{}, errors.New("it can't be written")
		})
		if err := apply(); err == nil {
			t.Error("it was written")
		}
		f.Lease = time.Second
		f.Writer = writer(func(*movein.Plan) (contract.MovedIn, error) {
			first := until()
			testkit.Eventually(t, "a longer claim", func() bool { return until().After(first) })
			return contract.MovedIn{}, errors.New("it can't be written")
		})
		if err := apply(); err == nil || !until().IsZero() {
			t.Errorf("error %v, claimed until %v", err, until())
		}
		// A process was killed a while ago.
		err := f.db.Write(t.Context(), func(tx *models.Tx) error {
			row, err := tx.ImportPlanByID(p.ID)
			if err != nil {
				return err
			}
			claimed, err := tx.ClaimImportPlan(p.ID, row.UpdatedAt, models.Now().Add(-time.Hour), time.Minute)
			if err == nil && !claimed {
				err = errors.New("it can't be claimed")
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		f.Writer = writer(func(*movein.Plan) (contract.MovedIn, error) { return contract.MovedIn{}, nil })
		if err := apply(); err != nil {
			t.Error(err)
		}
	})
}
