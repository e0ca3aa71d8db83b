package exports_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/service/keys"
	"postern/testkit/state"
)

// Keys of a tenant that the project no longer serves are refused by name, and an
// export says so of each instead of leaving them out.
func TestKeysOf_detachedTenant(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		id := w.keyOfADetachedTenant(t, db)
		e := w.request(t, gateway)
		if err := w.Build(t.Context(), e.ID, true); err != nil {
			t.Fatal(err)
		}
		content := w.download(t, e.ID)
		if _, err := verified(t, content); err != nil {
			t.Errorf("Verify: %v", err)
		}
		codes := ledgerCodes(t, content)
		for item, want := range map[string]string{
			"key:" + id: "kong.key.wrong_tenant", "tenant:tnt_gone": "kong.tenant.detached", "tenant:tnt_unused": "",
		} {
			if codes[item] != want {
				t.Errorf("%s: %q, want %q", item, codes[item], want)
			}
		}
	})
}

// keyOfADetachedTenant creates two of the team's tenants, of which the project
// serves none any more, and a key of one.
func (w *world) keyOfADetachedTenant(t *testing.T, db *models.DB) string {
	t.Helper()
	var key models.APIKey
	err := db.Write(t.Context(), func(tx *models.Tx) error {
		project, err := tx.ProjectByID(w.project)
		if err != nil {
			return err
		}
		types, err := tx.KeyTypesOf(project.ID)
		if err != nil {
			return err
		}
		now := models.Now()
		for _, name := range []string{"gone", "unused"} {
			tenant := models.Tenant{
				ID:        "tnt_" + name,
				TeamID:    &project.TeamID,
				Name:      name,
				CreatedAt: now,
				UpdatedAt: now,
			}
			if err := tx.Insert(&tenant); err != nil {
				return err
			}
		}
		key, _, err = keys.Mint("pst", models.Project{ID: project.ID}, "tnt_gone", types[0],
			contract.NewKey{Owner: "ana"}, now)
		if err != nil {
			return err
		}
		return tx.Insert(&key)
	})
	if err != nil {
		t.Fatal(err)
	}
	return key.ID
}

func ledgerCodes(t *testing.T, content []byte) map[string]string {
	t.Helper()
	zr, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	file, err := zr.Open("MIGRATION-REPORT.json")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	text, err := io.ReadAll(file)
	if err != nil {
		t.Fatal(err)
	}
	var ledger struct{ Items []struct{ ID, Code string } }
	if err := json.Unmarshal(text, &ledger); err != nil {
		t.Fatal(err)
	}
	codes := map[string]string{}
	for _, item := range ledger.Items {
		codes[item.ID] = item.Code
	}
	return codes
}
