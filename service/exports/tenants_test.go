package exports_test

import (
	"fmt"
	"slices"
	"testing"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/service/keys"
	"postern/service/serving"
	"postern/testkit/state"
)

// The keys of the tenants, each read separately, are the keys of the project: those of a product and of a tenant that
// the project no longer serves included.
func TestKeysOf_tenants(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		w.shareProduct(t)
		w.keyOfADetachedTenant(t, db)
		for _, owner := range []string{"ana", "ben"} {
			if _, err := w.keys.Create(t.Context(), w.owner, contract.NewKey{Owner: owner}.In("shop")); err != nil {
				t.Fatal(err)
			}
		}
		err := db.Consistent(t.Context(), func(tx *models.Tx) error {
			project, err := serving.CompileWhole(tx, w.project, "https://console.example")
			if err != nil {
				return err
			}
			var whole, parts []string
			note := func(to *[]string) func(snapshot.Key) error {
				return func(k snapshot.Key) error {
					*to = append(*to, fmt.Sprint(k.TenantID, k.ID, k.Owner, k.Scopes))
					return nil
				}
			}
			if err := keys.Scan(tx, project, note(&whole)); err != nil {
				return err
			}
			for _, tenant := range project.Tenants {
				if err := keys.ScanTenant(tx, project, tenant, note(&parts)); err != nil {
					return err
				}
			}
			slices.Sort(whole)
			slices.Sort(parts)
			if len(project.Tenants) < 2 || len(whole) < 4 || !slices.Equal(whole, parts) {
				t.Errorf("of %d tenants:\n%q\nwant\n%q", len(project.Tenants), parts, whole)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
