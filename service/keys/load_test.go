package keys_test

import (
	"crypto/sha256"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/service/keys"
	"postern/testkit"
	"postern/testkit/state"
)

// Reading all keys at once must return the same as reading one project's keys.
func TestTable_loadAll(t *testing.T) {
	hashOf := func(secret string) []byte {
		sum := sha256.Sum256([]byte(secret))
		return sum[:]
	}
	later := models.Now().Add(time.Hour + 123456*time.Microsecond)
	product, private := "pdt_1", netip.MustParsePrefix("10.0.0.0/8")
	for name, change := range testkit.ByName(map[string]func(k *models.APIKey){
		"plain":                          func(*models.APIKey) {},
		"frozen":                         func(k *models.APIKey) { k.State = "frozen" },
		"revoked":                        func(k *models.APIKey) { k.State = "revoked" },
		"of all environments":            func(k *models.APIKey) { k.Environment = "" },
		"with a product":                 func(k *models.APIKey) { k.ProductID = &product },
		"that expires":                   func(k *models.APIKey) { k.ExpiresAt = &later },
		"with limits":                    func(k *models.APIKey) { k.Limits = &models.Limits{"minute": 5} },
		"without any of its type's":      func(k *models.APIKey) { k.Limits = &models.Limits{} },
		"with address ranges":            func(k *models.APIKey) { k.AllowedCIDRs = models.Prefixes{private} },
		"with a former secret":           func(k *models.APIKey) { k.OldHash, k.GraceEndsAt = hashOf("old"), &later },
		"with separators in its owner":   func(k *models.APIKey) { k.Owner = "a\x1fb'\x1f" },
		"with an owner beyond ASCII":     func(k *models.APIKey) { k.Owner = "Zoë 🦊" },
		"of a tenant that is not served": func(k *models.APIKey) { k.TenantID = "tnt_other" },
	}) {
		t.Run(name, func(t *testing.T) {
			state.Each(t, func(t *testing.T, db *models.DB) {
				w, now := newWorld(t, db), models.Now()
				types, err := db.Read(t.Context()).KeyTypesOf(w.project.ID)
				must(t, err)
				tenants, err := db.Read(t.Context()).TenantsOf(w.project.ID)
				must(t, err)
				key := models.APIKey{
					ID:          models.NewID("key"),
					TeamID:      w.project.TeamID,
					ProjectID:   w.project.ID,
					TenantID:    tenants[0].ID,
					KeyTypeID:   types[1].ID,
					Owner:       "ana",
					Environment: "prod",
					State:       "active",
					Hash:        hashOf("new"),
					UpdatedAt:   now,
					KeyDetails:  contract.KeyDetails{CreatedAt: now},
				}
				change(&key)
				other := models.Tenant{ID: "tnt_other", TeamID: &w.project.TeamID, Name: "acme", CreatedAt: now}
				shared := models.Product{ID: product, TeamID: w.project.TeamID, Name: "all", CreatedAt: now}
				must(t, db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(&shared, &other, &key) }))
				all, one := keys.NewTable(), keys.NewTable()
				must(t, all.LoadAll(db.Read(t.Context())))
				must(t, one.LoadProject(db.Read(t.Context()), w.project.ID))
				for _, secret := range []string{"new", "old"} {
					var got, want snapshot.Key
					foundGot, _ := all.Lookup(w.project.TeamID, [32]byte(hashOf(secret)), &got)
					foundWant, _ := one.Lookup(w.project.TeamID, [32]byte(hashOf(secret)), &want)
					got.FoundIn, want.FoundIn = 0, 0
					if foundGot != foundWant || !reflect.DeepEqual(got, want) {
						t.Errorf("%s secret: %v %+v, want %v %+v", secret, foundGot, got, foundWant, want)
					}
					if secret == "new" && (!foundGot || got.Owner != key.Owner || got.KeyType != types[1].Name) {
						t.Errorf("%s secret: %v %+v", secret, foundGot, got)
					}
				}
			})
		})
	}
}

func TestTable_retain(t *testing.T) {
	w := newWorld(t, state.OpenSQLite(t))
	kept := w.create(t, contract.NewKey{Owner: "ana"})
	w.table.Retain(func(id string) bool { return id == w.project.ID })
	if key := w.lookup(t, kept.Secret.Reveal()); key.Owner != "ana" {
		t.Errorf("a key of the project that is kept: %+v", key)
	}
	w.table.Retain(func(string) bool { return false })
	if state, _ := w.state(kept.Secret.Reveal()); state != "" {
		t.Errorf("a key of no project is %s", state)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
