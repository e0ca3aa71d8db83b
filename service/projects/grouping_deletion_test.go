package projects_test

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/testkit/state"
)

// tenantRows are rows of one tenant in each table with rows of its people and app clients.
func tenantRows(tenant string) []any {
	now := models.Now()
	later := now.Add(time.Hour)
	client, user, session := models.NewID("cli"), models.NewID("usr"), models.NewID("ses")
	inner, outer := models.NewID("grp"), models.NewID("grp")
	return []any{
		&models.AppClient{
			ID:           client,
			TenantID:     tenant,
			Name:         "web",
			RedirectURIs: []string{},
			LogoutURIs:   []string{},
			CreatedAt:    now,
			UpdatedAt:    now,
		},
		&models.Provider{
			ID:                   models.NewID("idp"),
			AppClientID:          client,
			Scopes:               []string{},
			AuthoritativeDomains: []string{},
			SignInDomains:        []string{},
			CreatedAt:            now,
			UpdatedAt:            now,
		},
		&models.EndUser{ID: user, TenantID: tenant, CreatedAt: now, UpdatedAt: now},
		&models.Identity{TenantID: tenant, Issuer: "i", Subject: "s", UserID: user, CreatedAt: now},
		&models.SignupPolicy{TenantID: tenant, UpdatedAt: now},
		&models.Approval{
			ID:        models.NewID("pre"),
			TenantID:  tenant,
			Kind:      "email",
			Value:     "x",
			Groups:    []string{},
			CreatedAt: now,
		},
		&models.UserGroup{ID: inner, TenantID: tenant, Name: "inner", CreatedAt: now, UpdatedAt: now},
		&models.UserGroup{ID: outer, TenantID: tenant, Name: "outer", CreatedAt: now, UpdatedAt: now},
		&models.GroupMember{GroupID: inner, UserID: user, Role: "member", CreatedAt: now},
		&models.GroupOwner{GroupID: inner, Owner: "billing", Role: "member", CreatedAt: now},
		&models.GroupGroup{ParentID: outer, ChildID: inner, CreatedAt: now},
		&models.LoginSession{ID: session, ClientID: client, UserID: user, CreatedAt: now, ExpiresAt: later},
		&models.LoginConsent{UserID: user, ClientID: client, CreatedAt: now, UpdatedAt: now},
		&models.LoginGrant{Hash: []byte(session), Kind: "code", SessionID: session, CreatedAt: now, ExpiresAt: later},
	}
}

// owned is a world whose caller is the owner of a team with the projects shop and books in
// the product store, and the tenants acme and other, which shop serves.
type owned struct {
	*world
	owner, member, viewer access.Principal
	shop, books           string
	acme, other           string // ids
}

func newOwned(t *testing.T, db *models.DB) *owned {
	t.Helper()
	w := newWorld(t, db)
	in := authenticated
	in.Name, in.Tenant, in.Product = "shop", "acme", "store"
	shop, p := w.create(t, in)
	in.Name, in.Tenant = "books", "other"
	books, err := w.Create(t.Context(), p, in)
	if err != nil {
		t.Fatal(err)
	}
	as := func(role access.Role) access.Principal {
		return access.Principal{Account: "acc_1", Roles: map[string]access.Role{p.HomeTeam: role}, HomeTeam: p.HomeTeam}
	}
	o := &owned{
		world:  w,
		owner:  as(access.Owner),
		member: as(access.Member),
		viewer: as(access.Viewer),
		shop:   shop.Project.ID,
		books:  books.Project.ID,
	}
	o.acme, o.other = o.tenantID(t, "acme"), o.tenantID(t, "other")
	for _, id := range []string{o.acme, o.other} {
		rows := tenantRows(id)
		if err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(rows...) }); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

func (o *owned) tenantID(t *testing.T, name string) string {
	t.Helper()
	tenant, err := o.Tenant(t.Context(), o.owner, contract.TenantPath{Tenant: name})
	if err != nil {
		t.Fatal(err)
	}
	return tenant.ID
}

// announced keeps events with their data.
type announced struct{ events []string }

func (a *announced) Emit(_ context.Context, _ *models.Tx, _, event string, data map[string]any) error {
	tenant, _ := data["tenant_name"].(string)
	key, _ := data["key"].(string)
	users, _ := data["users"].(string)
	a.events = append(a.events, event+" "+tenant+key+" "+users)
	return nil
}

func TestTenantDeletion(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newOwned(t, db)
		o.mint(t, o.owner, "shop", contract.NewKey{Owner: "partner", Tenant: "acme"})
		got, err := o.TenantDeletion(t.Context(), o.viewer, contract.TenantPath{Tenant: "acme"})
		want := contract.TenantDeletion{
			Projects:   []string{"shop"},
			Users:      1,
			Groups:     2,
			Approvals:  1,
			AppClients: 1,
			Providers:  1,
			Sessions:   1,
			Keys:       1,
			ActiveKeys: 1,
			InUse:      true,
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, %v; want %+v", got, err, want)
		}
	})
}

func TestDeleteTenant_refused(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newOwned(t, db)
		stranger := access.Principal{
			Account:  "acc_2",
			Roles:    map[string]access.Role{"team_other": access.Owner},
			HomeTeam: "team_other",
		}
		served, err := o.Served(t.Context(), o.owner, "shop", models.Page{})
		if err != nil {
			t.Fatal(err)
		}
		own := served.Items[slices.IndexFunc(served.Items, func(x contract.Tenant) bool { return x.Project != nil })]
		for name, c := range map[string]struct {
			who          access.Principal
			ref, confirm string
			want         string
		}{
			"without the name":    {o.owner, "acme", "", "tenant_in_use"},
			"with another name":   {o.owner, "acme", "other", "wrong_confirmation"},
			"by a member":         {o.member, "acme", "acme", "not_allowed"},
			"by a viewer":         {o.viewer, "acme", "acme", "not_allowed"},
			"of another team":     {stranger, o.acme, "acme", "not_found"},
			"a project's default": {o.owner, own.ID, "default", "built_in"},
		} {
			if _, err := o.DeleteTenant(
				t.Context(), c.who, tenantRemoval(c.ref, c.confirm),
			); fault.CodeOf(err) != c.want {
				t.Errorf("%s: %v, want %s", name, err, c.want)
			}
		}
	})
}

// Everything of the tenant goes, and nothing of another.
func TestDeleteTenant(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o, heard := newOwned(t, db), &announced{}
		o.Events = heard
		gone := o.mint(t, o.owner, "shop", contract.NewKey{Owner: "partner", Tenant: "acme", Product: "store"})
		stays := o.mint(t, o.owner, "books", contract.NewKey{Owner: "partner", Tenant: "other"})
		before := countRows(t, db)
		if _, err := o.DeleteTenant(t.Context(), o.owner, tenantRemoval("acme", "acme")); err != nil {
			t.Fatal(err)
		}
		for _, project := range []string{o.shop, o.books} {
			if got, _ := o.answer(t, project, gone.Secret.Reveal()); got != "invalid_key" {
				t.Errorf("its key in %s: %q", project, got)
			}
		}
		if got, _ := o.answer(t, o.books, stays.Secret.Reveal()); got != "" {
			t.Errorf("the key of another tenant: %q", got)
		}
		for table, n := range countRows(t, db) {
			if n*2 != before[table] {
				t.Errorf("%s has %d rows, of %d before", table, n, before[table])
			}
		}
		if want := []string{"tenant.deleted acme 1"}; !slices.Equal(heard.events, want) {
			t.Errorf("told %q, want %q", heard.events, want)
		}
		_, err := o.DeleteTenant(t.Context(), o.owner, tenantRemoval("acme", "acme"))
		if fault.KindOf(err) != fault.NotFound {
			t.Errorf("a second time: %v", err)
		}
		entries, err := db.Read(t.Context()).AuditEntries(models.AuditFilter{TeamID: o.owner.HomeTeam}, 50)
		erased := func(e models.AuditEntry) bool { return e.Action == string(access.TenantErase) && e.Object == o.acme }
		if err != nil || !slices.ContainsFunc(entries, erased) {
			t.Errorf("the audit log does not have it: %v", err)
		}
	})
}

func countRows(t *testing.T, db *models.DB) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for _, table := range []string{
		"app_clients", "providers", "login_sessions", "login_grants", "login_consents", "end_users", "identities",
		"signup_policies", "approvals", "user_groups", "group_members", "group_owners", "group_groups",
	} {
		var n int
		if err := db.SQL().QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil {
			t.Fatal(err)
		}
		counts[table] = n
	}
	return counts
}

func TestDeleteProduct(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newOwned(t, db)
		both := o.mint(t, o.owner, "shop", contract.NewKey{Owner: "partner", Product: "store"})
		own := o.mint(t, o.owner, "shop", contract.NewKey{Owner: "partner"})
		got, err := o.ProductDeletion(t.Context(), o.viewer, contract.ProductPath{Product: "store"})
		if err != nil || got.Keys != 1 || got.ActiveKeys != 1 || len(got.Projects) != 2 {
			t.Errorf("counted %+v, %v", got, err)
		}
		for confirm, want := range map[string]string{"": "product_in_use", "stor": "wrong_confirmation"} {
			if _, err := o.DeleteProduct(
				t.Context(), o.owner, productRemoval("store", confirm),
			); fault.CodeOf(err) != want {
				t.Errorf("with %q: %v, want %s", confirm, err, want)
			}
		}
		_, err = o.DeleteProduct(t.Context(), o.viewer, productRemoval("store", "store"))
		if fault.CodeOf(err) != "not_allowed" {
			t.Errorf("by a viewer: %v", err)
		}
		if _, err := o.DeleteProduct(t.Context(), o.member, productRemoval("store", "store")); err != nil {
			t.Fatal(err)
		}
		for _, project := range []string{o.shop, o.books} {
			if got, _ := o.answer(t, project, both.Secret.Reveal()); got != "invalid_key" {
				t.Errorf("the product's key in %s: %q", project, got)
			}
		}
		if got, _ := o.answer(t, o.shop, own.Secret.Reveal()); got != "" {
			t.Errorf("the project's key: %q", got)
		}
		key, err := o.keys.Get(t.Context(), o.owner, both.Path())
		if err != nil || key.State != "revoked" {
			t.Errorf("the product's key is %s, %v", key.State, err)
		}
		_, err = o.Product(t.Context(), o.owner, contract.ProductPath{Product: "store"})
		if fault.KindOf(err) != fault.NotFound {
			t.Errorf("the product: %v", err)
		}
	})
}
