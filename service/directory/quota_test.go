package directory_test

import (
	"fmt"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/directory"
	"postern/testkit"
	"postern/testkit/state"
)

// The users, groups and approvals of an unclaimed workspace are limited, in all its tenants together. Users of a
// claimed workspace are not. Existing users can still sign in.
func TestWorkspaceQuota(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		now := models.Now()
		own := models.Tenant{ID: "tnt_own", ProjectID: &w.project, Name: "default", CreatedAt: now, UpdatedAt: now}
		rows := []any{&own}
		tenants := []string{w.tenant, own.ID}
		for i := range 1000 {
			rows = append(rows, &models.EndUser{
				ID:        fmt.Sprint("usr_", i),
				TenantID:  tenants[i%2],
				State:     directory.Active,
				CreatedAt: now,
				UpdatedAt: now,
			})
		}
		for i := range 100 {
			rows = append(rows,
				&models.UserGroup{
					ID:        fmt.Sprint("grp_", i),
					TenantID:  tenants[i%2],
					Name:      fmt.Sprint("g", i),
					CreatedAt: now,
					UpdatedAt: now,
				},
				&models.Approval{
					ID:        fmt.Sprint("apv_", i),
					TenantID:  tenants[i%2],
					Kind:      contract.ByDomain,
					Value:     fmt.Sprint("d", i, ".example"),
					Groups:    []string{},
					CreatedAt: now,
				})
		}
		if _, err := w.provision(t, "early@example.com", true); err != nil {
			t.Fatal(err)
		}
		if err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(rows...) }); err != nil {
			t.Fatal(err)
		}
		adds := map[string]func() error{
			"a user": func() error {
				_, err := w.CreateUser(t.Context(), w.owner, contract.NewUser{Email: "new@example.com"}.In(w.tenant))
				return err
			},
			"a first sign-in": func() error {
				_, err := w.provision(t, "late@example.com", true)
				return err
			},
			"a group": func() error {
				_, err := w.CreateGroup(t.Context(), w.owner, contract.NewGroup{Name: "late"}.In(w.tenant))
				return err
			},
			"an approval": func() error {
				in := contract.NewApproval{Value: "late.example"}
				_, err := w.CreateApproval(t.Context(), w.owner, in.In(w.tenant))
				return err
			},
		}
		for what, add := range testkit.ByName(adds) {
			if err := add(); fault.CodeOf(err) != "workspace_full" {
				t.Errorf("%s in a full workspace: %v", what, err)
			}
		}
		if _, err := w.provision(t, "early@example.com", true); err != nil {
			t.Errorf("a sign-in of a user who is in: %v", err)
		}
		if _, err := db.SQL().ExecContext(t.Context(), "UPDATE teams SET claimed_at = created_at"); err != nil {
			t.Fatal(err)
		}
		for what, add := range testkit.ByName(adds) {
			if err := add(); err != nil {
				t.Errorf("%s in a claimed team: %v", what, err)
			}
		}
	})
}
