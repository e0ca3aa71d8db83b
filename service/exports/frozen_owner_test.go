package exports_test

import (
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/service/keys"
	"postern/testkit/state"
)

// An exported gateway answers the key of a frozen user as ours does, not as a frozen key.
func TestKeysOf_frozenUser(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		id := w.keyOfAFrozenUser(t, db)
		e := w.request(t, gateway)
		if err := w.Build(t.Context(), e.ID, true); err != nil {
			t.Fatal(err)
		}
		if code := ledgerCodes(t, w.download(t, e.ID))["key:"+id]; code != "kong.key.user_frozen" {
			t.Errorf("the ledger says %q, want kong.key.user_frozen", code)
		}
	})
}

func (w *world) keyOfAFrozenUser(t *testing.T, db *models.DB) string {
	t.Helper()
	var key models.APIKey
	err := db.Write(t.Context(), func(tx *models.Tx) error {
		types, err := tx.KeyTypesOf(w.project)
		if err != nil {
			return err
		}
		tenants, err := tx.TenantsOf(w.project)
		if err != nil {
			return err
		}
		now := models.Now()
		long := now.AddDate(-1, 0, 0)
		user := models.EndUser{
			ID:        models.NewID("usr"),
			TenantID:  tenants[0].ID,
			Email:     "ana@example.com",
			State:     "frozen",
			CreatedAt: long,
			UpdatedAt: long,
		}
		key, _, err = keys.Mint("pst", models.Project{ID: w.project}, tenants[0].ID, types[0],
			contract.NewKey{Owner: user.ID}, now)
		if err != nil {
			return err
		}
		return tx.Insert(&user, &key)
	})
	if err != nil {
		t.Fatal(err)
	}
	return key.ID
}
