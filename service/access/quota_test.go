package access_test

import (
	"fmt"
	"testing"

	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/testkit/state"
)

func TestQuota_workspace(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		now := models.Now()
		project := models.Project{ID: "prj_0", TeamID: "team_new", Name: "shop", CreatedAt: now, UpdatedAt: now}
		rows := []any{&models.Team{
			ID:        "team_new",
			CreatedAt: now,
		}, &models.Team{ID: "team_old", ClaimedAt: &now, CreatedAt: now}, &project}
		for i := range 12 {
			rows = append(rows, &models.Product{
				ID:        fmt.Sprint("prd_", i),
				TeamID:    "team_old",
				Name:      fmt.Sprint("p", i),
				CreatedAt: now,
				UpdatedAt: now,
			})
		}
		write(t, db, rows...)
		for i := range 30 {
			if err := access.CheckQuota(db.Read(t.Context()), "team_new", models.QuotaExports); err != nil {
				t.Fatalf("export %d: %v", i, err)
			}
			write(t, db, &models.Export{ID: fmt.Sprint("exp_", i), ProjectID: "prj_0", CreatedAt: now})
		}
		for table, want := range map[models.QuotaKind]string{
			models.QuotaExports:  "workspace_full",
			models.QuotaProjects: "",
			models.QuotaProducts: "",
			models.QuotaTenants:  "",
			models.QuotaKeys:     "",

			models.QuotaDocuments: "",
			models.QuotaUsers:     "",
			models.QuotaGroups:    "",
			models.QuotaApprovals: "",
		} {
			if err := access.CheckQuota(db.Read(t.Context()), "team_new", table); (want == "") != (err == nil) ||
				err != nil && fault.CodeOf(err) != want {
				t.Errorf("%s of the workspace: %v", table, err)
			}
			if err := access.CheckQuota(db.Read(t.Context()), "team_old", table); err != nil {
				t.Errorf("%s of a claimed team: %v", table, err)
			}
		}
		if access.CheckQuota(db.Read(t.Context()), "team_new", "webhooks") == nil {
			t.Error("a table without a bound has room")
		}
	})
}

func write(t *testing.T, db *models.DB, rows ...any) {
	t.Helper()
	if err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(rows...) }); err != nil {
		t.Fatal(err)
	}
}
