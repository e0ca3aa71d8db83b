package keys_test

import (
	"testing"

	"postern/core/contract"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/models"
	"postern/service/keys"
	"postern/testkit/state"
)

// One batch has a key whose names are here, and one of the same type with a tenant that is not.
func TestTable_loadKeys(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		other := models.Tenant{
			ID:        models.NewID("tnt"),
			TeamID:    &w.project.TeamID,
			Name:      "acme",
			CreatedAt: models.Now(),
		}
		attached := models.ProjectTenant{ProjectID: w.project.ID, TenantID: other.ID, CreatedAt: models.Now()}
		if err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(&other, &attached) }); err != nil {
			t.Fatal(err)
		}
		table := keys.NewTable()
		first := w.create(t, contract.NewKey{Owner: "ana"})
		if err := table.LoadAll(db.Read(t.Context())); err != nil {
			t.Fatal(err)
		}
		second := w.create(t, contract.NewKey{Owner: "bo", Tenant: "acme"})
		if err := table.LoadKeys(db.Read(t.Context()), first.ID, second.ID); err != nil {
			t.Fatal(err)
		}
		for secret, want := range map[contract.Secret]string{first.Secret: "default", second.Secret: "acme"} {
			var key snapshot.Key
			table.Lookup(w.project.TeamID, policy.HashKey(secret.Reveal()), &key)
			if key.Tenant != want || key.KeyType != "full" {
				t.Errorf("a key of %s is %+v", want, key)
			}
		}
	})
}
