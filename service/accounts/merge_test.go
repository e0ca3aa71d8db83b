package accounts_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/testkit/state"
)

// A merge moves a workspace's products and tenants too, and renames those whose names the team
// already uses.
func TestMerge_productsAndTenants(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, ana := newService(t, db)
		w := makeUnclaimed(t, db, time.Hour)
		now, into := models.Now(), ana.HomeTeam
		store := models.Product{ID: models.NewID("prd"), TeamID: w.Team, Name: "store", CreatedAt: now, UpdatedAt: now}
		acme := models.Tenant{ID: models.NewID("tnt"), TeamID: &w.Team, Name: "acme", CreatedAt: now, UpdatedAt: now}
		other := models.Tenant{ID: models.NewID("tnt"), TeamID: &w.Team, Name: "other", CreatedAt: now, UpdatedAt: now}
		err := db.Write(t.Context(), func(tx *models.Tx) error {
			if err := tx.Insert(&store, &acme, &other,
				&models.Product{ID: models.NewID("prd"), TeamID: into, Name: "store", CreatedAt: now, UpdatedAt: now},
				&models.Product{ID: models.NewID("prd"), TeamID: into, Name: "store-2", CreatedAt: now, UpdatedAt: now},
				&models.Tenant{ID: models.NewID("tnt"), TeamID: &into, Name: "acme", CreatedAt: now, UpdatedAt: now},
				&models.ProjectTenant{ProjectID: w.project.ID, TenantID: acme.ID, CreatedAt: now}); err != nil {
				return err
			}
			seen := w.project.UpdatedAt
			w.project.ProductID = &store.ID
			_, err := tx.UpdateProject(w.project, seen)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		claimed, err := s.Claim(t.Context(), ana, contract.ClaimOf(w.ClaimCode, into))
		if want := []string{"product store → store-3", "tenant acme → acme-2"}; err != nil ||
			!slices.Equal(claimed.Renamed, want) {
			t.Errorf("renamed %v, %v", claimed.Renamed, err)
		}
		tx := db.Read(t.Context())
		if merged, err := tx.MergedInto(w.Team); err != nil || merged != into {
			t.Errorf("the workspace was merged into %q, %v", merged, err)
		}
		product, err := tx.ProductByID(store.ID)
		if err != nil || product.TeamID != into || product.Name != "store-3" {
			t.Errorf("the product is %+v, %v", product, err)
		}
		for id, name := range map[string]string{acme.ID: "acme-2", other.ID: "other"} {
			tenant, err := tx.TenantByID(id)
			if err != nil || *tenant.TeamID != into || tenant.Name != name {
				t.Errorf("the tenant is %+v, %v", tenant, err)
			}
		}
		served, err := tx.TenantsOf(w.project.ID)
		if err != nil || len(served) != 1 || served[0].Name != "acme-2" {
			t.Errorf("the project serves %+v, %v", served, err)
		}
	})
}

// A secret finds one key of a team, so a key whose secret the team has too isn't merged.
func TestMerge_sameSecret(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, ana := newService(t, db)
		w := makeUnclaimed(t, db, time.Hour)
		now := models.Now()
		theirs := models.Project{
			ID: models.NewID("prj"), TeamID: ana.HomeTeam, Name: "theirs", CreatedAt: now, UpdatedAt: now,
		}
		keyOf := func(project models.Project) []any {
			tenant := models.Tenant{ID: models.NewID("tnt"), ProjectID: &project.ID, Name: "own", CreatedAt: now}
			keyType := models.KeyType{
				ID: models.NewID("kty"), ProjectID: project.ID, Name: "own", Scopes: []string{"*"},
			}
			return []any{&tenant, &keyType, &models.APIKey{
				ID: models.NewID("key"), TeamID: project.TeamID, ProjectID: project.ID, TenantID: tenant.ID,
				KeyTypeID: keyType.ID, Owner: "x", State: "active", Hash: make([]byte, 32), UpdatedAt: now,
				KeyDetails: contract.KeyDetails{CreatedAt: now},
			}}
		}
		moving := keyOf(w.project)
		err := db.Write(t.Context(), func(tx *models.Tx) error {
			return tx.Insert(append(append([]any{&theirs}, keyOf(theirs)...), moving...)...)
		})
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Claim(t.Context(), ana, contract.ClaimOf(w.ClaimCode, ana.HomeTeam))
		if fault.CodeOf(err) != "keys_exist" {
			t.Fatalf("with the same secret in both: %v", err)
		}
		row := *moving[2].(*models.APIKey)
		row.State = "revoked"
		if err := db.Write(t.Context(), func(tx *models.Tx) error {
			_, err := tx.UpdateKey(row, row.UpdatedAt)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if _, err = s.Claim(t.Context(), ana, contract.ClaimOf(w.ClaimCode, ana.HomeTeam)); err != nil {
			t.Errorf("once it is revoked: %v", err)
		}
		if _, err := db.Read(t.Context()).KeyByID(row.ID); !errors.Is(err, models.ErrNotFound) {
			t.Errorf("the revoked key is still there: %v", err)
		}
	})
}
