package models_test

import (
	"slices"
	"testing"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/testkit/state"
)

// Old revisions go, but for the newest of each project, those by which a product's keys are known to have changed, and
// the newest of all.
func TestPruneRevisions(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		now := models.Now()
		old := now.Add(-time.Hour)
		product := "prd_1"
		team, project := "team_1", "prj_a"
		insert(t, db,
			&models.Team{ID: team, CreatedAt: now},
			&models.Product{ID: product, TeamID: team, CreatedAt: now, UpdatedAt: now},
			&models.Project{ID: project, TeamID: team, Name: "a", CreatedAt: now, UpdatedAt: now},
			&models.Tenant{ID: "tnt_1", ProjectID: &project, Name: "default", CreatedAt: now, UpdatedAt: now},
			&models.KeyType{ID: "kty_1", ProjectID: project, Name: "full", Scopes: []string{}},
			&models.APIKey{
				ID: "key_1", ProjectID: project, TenantID: "tnt_1", KeyTypeID: "kty_1", ProductID: &product,
				Hash: []byte("h"), UpdatedAt: now, KeyDetails: contract.KeyDetails{CreatedAt: now},
			},
		)
		for _, r := range []models.Revision{
			{ProjectID: "prj_a", KeyID: "key_1", CreatedAt: old},
			{ProjectID: "prj_a", KeyID: "key_1", CreatedAt: old}, // stays: the newest of the product's keys
			{ProjectID: "prj_a", KeyID: "key_2", CreatedAt: old},
			{ProjectID: "prj_a", CreatedAt: old}, // stays, as the next: the newest of its project
			{ProjectID: "prj_b", CreatedAt: old},
			{ProjectID: "prj_c", CreatedAt: old},
			{ProjectID: "prj_c", CreatedAt: now}, // not old
			{ProjectID: "prj_c", CreatedAt: now},
		} {
			insert(t, db, &r) // one transaction each, which numbers them in this order
		}
		all, err := db.Read(t.Context()).RevisionsFrom(0, 8)
		if err != nil {
			t.Fatal(err)
		}
		prune := func(want ...int) { // the revisions that are left, from 1
			t.Helper()
			for last, more := int64(0), true; more; {
				err := db.Write(t.Context(), func(tx *models.Tx) (err error) {
					last, more, err = tx.PruneRevisions(last, now, 2)
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			list, err := db.Read(t.Context()).RevisionsFrom(0, 2000)
			if err != nil {
				t.Fatal(err)
			}
			var left []int
			for i, r := range all {
				if slices.ContainsFunc(list, r.Same) {
					left = append(left, i+1)
				}
			}
			if !slices.Equal(left, want) {
				t.Errorf("%d are left, want %d", left, want)
			}
		}
		prune(1, 2, 3, 4, 5, 6, 7, 8) // the newest thousand
		err = db.Write(t.Context(), func(tx *models.Tx) error {
			for range 1000 {
				if err := tx.AddRevision("prj_new", "", now); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		prune(2, 4, 5, 7, 8)
	})
}

func insert(t *testing.T, db *models.DB, rows ...any) {
	t.Helper()
	if err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(rows...) }); err != nil {
		t.Fatal(err)
	}
}
