package projects_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/testkit/state"
)

// servedCORS is what the gateway was given of a tenant in a project.
func (w *world) servedCORS(t *testing.T, project, tenant string) *snapshot.CORS {
	t.Helper()
	for _, one := range w.project(t, project).Tenants {
		if one.ID == tenant {
			return one.CORS
		}
	}
	t.Fatalf("the tenant %s is not served", tenant)
	return nil
}

func TestTenantCORS(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		in := authenticated
		in.Name = "shop"
		shop, owner := w.create(t, in)
		in.Name = "books"
		books, err := w.Create(t.Context(), owner, in)
		if err != nil {
			t.Fatal(err)
		}
		tenant, err := w.CreateTenant(t.Context(), owner, newTenant("acme"))
		if err != nil {
			t.Fatal(err)
		}
		for _, ref := range []string{"shop", "books"} {
			if _, err := w.Attach(t.Context(), owner, contract.Attachment(ref, "acme")); err != nil {
				t.Fatal(err)
			}
		}
		now := models.Now()
		err = db.Write(t.Context(), func(tx *models.Tx) error {
			return tx.Insert(&models.AppClient{
				ID:           models.NewID("cli"),
				TenantID:     tenant.ID,
				Name:         "web",
				RedirectURIs: []string{"https://web.acme.example/callback"},
				LogoutURIs:   []string{},
				CreatedAt:    now,
				UpdatedAt:    now,
			})
		})
		if err != nil {
			t.Fatal(err)
		}

		acme := func(etag string, in contract.CORS) contract.TenantCORSUpdate {
			return contract.TenantCORSUpdate{
				TenantPath: contract.TenantPath{Tenant: "acme"}, Condition: contract.Condition{IfMatch: etag}, Body: in,
			}
		}
		before, err := w.TenantCORS(t.Context(), owner, contract.TenantPath{Tenant: "acme"})
		if err != nil {
			t.Fatal(err)
		}
		want := contract.CORS{Origins: []string{"https://acme.example"}, AppOrigins: true, MaxAge: new(600)}
		set, err := w.SetTenantCORS(t.Context(), owner, acme(before.ETag, want))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(set.FromApps, []string{"https://web.acme.example"}) || len(set.Methods) == 0 {
			t.Errorf("set: %+v", set)
		}
		for _, project := range []string{shop.Project.ID, books.Project.ID} {
			served := w.servedCORS(t, project, tenant.ID)
			if served == nil ||
				!slices.Equal(served.Allowed(), []string{"https://acme.example", "https://web.acme.example"}) {
				t.Errorf("served in %s: %+v", project, served)
			}
			if own := w.project(t, project).CORS; own != nil {
				t.Errorf("the project's own in %s: %+v", project, own)
			}
		}
		_, err = w.SetTenantCORS(t.Context(), owner, acme(before.ETag, want))
		if fault.KindOf(err) != fault.KindOf(access.Stale()) {
			t.Errorf("with an old ETag: %v", err)
		}
		_, err = w.SetTenantCORS(t.Context(), owner, acme("", contract.CORS{Origins: []string{"acme.example"}}))
		if !strings.Contains(errors.Unwrap(err).Error(), "browsers send it") {
			t.Errorf("no origin: %v", err)
		}
		if _, err := w.UpdateTenant(t.Context(), owner, contract.TenantUpdate{
			TenantPath: contract.TenantPath{Tenant: "acme"},
			Body:       contract.TenantChange{DisplayName: new("Acme")},
		}); err != nil {
			t.Fatal(err)
		}
		again, err := w.TenantCORS(t.Context(), owner, contract.TenantPath{Tenant: tenant.ID})
		if err != nil || again.ETag != set.ETag {
			t.Errorf("after another change of the tenant: %+v, %v", again, err)
		}
		if _, err := w.RemoveTenantCORS(t.Context(), owner, contract.TenantCORSRemoval{
			TenantPath: contract.TenantPath{Tenant: "acme"}, Condition: contract.Condition{IfMatch: set.ETag},
		}); err != nil {
			t.Fatal(err)
		}
		if served := w.servedCORS(t, shop.Project.ID, tenant.ID); served != nil {
			t.Errorf("removed: %+v", served)
		}

		entries, err := db.Read(t.Context()).AuditEntries(
			models.AuditFilter{TeamID: owner.HomeTeam, Action: string(access.TenantUpdate)}, 10)
		if err != nil {
			t.Fatal(err)
		}
		first := entries[len(entries)-1]
		changed := fmt.Sprint(first.Changes)
		if len(entries) != 3 || first.Object != tenant.ID || first.Detail["change"] != "CORS" ||
			!strings.Contains(changed, "https://acme.example") {
			t.Errorf("%d entries, the first %+v changes %s", len(entries), first, changed)
		}
	})
}
