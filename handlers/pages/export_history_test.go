package pages_test

import (
	"fmt"
	"testing"

	"postern/models"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

func TestExportHistory(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := controlplane.NewOwnerWithShop(t, db)
		old := cancelledExports(t, db)
		path := finishedExport(t, s)
		newest := s.Get("/projects/shop/export")
		newest.
			Says("#export-history tbody tr:first-child", "ana@example.com").
			Says("#export-history tbody tr:first-child", "API keys, users, no secrets").
			Says("#export-history a[href='"+path+"/ledger']", "5 exact 1 approximate 0 lossy 0 skipped").
			Says("#export-history tbody tr:first-child", "kB").
			Lacks("#export-history a[href='/exports/" + old[0] + "']")
		if n := newest.Find("#export-history tbody tr").Length(); n != 10 {
			t.Errorf("%d exports are listed, want 10", n)
		}
		older := s.Get(newest.Find("#export-history nav a").AttrOr("href", "")).
			Says("#export-history nav", "First page").
			Says("#export-history tr:has(a[href='/exports/"+old[0]+"'])", "no API keys, no users, encrypted secrets")
		if n := older.Find("#export-history tbody tr").Length(); n != 2 {
			t.Errorf("%d older exports are listed, want 2", n)
		}
		// Without a requester, ledger or size.
		older.Lacks("#export-history a[href='/exports/" + old[0] + "/ledger']").Lacks("#export-history span[title]")
	})
}

// The progress counts users in the files of users, and keys in others.
func TestExportProgress(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := controlplane.NewOwnerWithShop(t, db)
		path := s.Post("/projects/shop/export", "format", "data", "consumers", "true").Header.Get("Location")
		for part, unit := range map[string]string{
			"tenants/default/keys/keys.jsonl":       "keys",
			"gateway/gateway.yaml":                  "keys",
			"tenants/default/users/users.jsonl":     "users",
			"tenants/default/users/scim/users.json": "users",
			"auth/keycloak-realm.json":              "users",
		} {
			_, err := db.SQL().ExecContext(t.Context(),
				"UPDATE exports SET state = 'building', rows_done = 5, rows_total = 1000, part = '"+part+"'")
			if err != nil {
				t.Fatal(err)
			}
			s.Get(path).Says("#export-status", "5 of 1,000 "+unit)
		}
	})
}

// cancelledExports adds exports that were canceled, and returns their ids, the oldest first.
func cancelledExports(t *testing.T, db *models.DB) []string {
	t.Helper()
	var ids []string
	err := db.Write(t.Context(), func(tx *models.Tx) error {
		project, err := tx.ProjectByName("shop")
		if err != nil {
			return err
		}
		for i := range 11 {
			row := models.Export{ID: fmt.Sprintf("exp_00%02d", i), ProjectID: project.ID, Format: "data", Keys: "none",
				Secrets: true, Recipient: "age1example", State: "cancelled", CreatedAt: models.Now()}
			if err := tx.Insert(&row); err != nil {
				return err
			}
			ids = append(ids, row.ID)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}
