package projects_test

import (
	"slices"
	"testing"

	"postern/core/contract"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/testkit/state"
)

// project is what the gateway was given of a project.
func (w *world) project(t *testing.T, id string) *snapshot.Project {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.IndexFunc(w.served, func(p *snapshot.Project) bool { return p.ID == id })
	if i < 0 {
		t.Fatalf("the project %s is not served", id)
	}
	return w.served[i]
}

// answer is the code that a call with the key gets in a project, "" when it is let
// through.
func (w *world) answer(t *testing.T, projectID, plaintext string) (code string, decision policy.Decision) {
	t.Helper()
	project := w.project(t, projectID)
	key := w.connections[plaintext] // as a connection keeps it, from the last call to whichever project
	if key == nil {
		key = &snapshot.Key{}
		w.connections[plaintext] = key
	}
	found, old := w.table.Lookup(project.TeamID, policy.HashKey(plaintext), key)
	rules, err := policy.CompileRules(&project.Versions[0].Rules)
	if err != nil {
		t.Fatal(err)
	}
	call := policy.Call{
		Access:      &project.Versions[0].Access,
		Rules:       rules,
		Method:      "GET",
		Path:        "/",
		Realm:       policy.NewRealm(project),
		Environment: "prod",
		KeyLines:    1,
		OldSecret:   old,
		Now:         models.Now(),
	}
	if found {
		call.Key = key
	}
	decision = policy.Decide(&call)
	return decision.Denial.Code, decision
}

func TestProductKey_allProjects(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		in := authenticated
		in.Name, in.Product = "shop", "store"
		shop, p := w.create(t, in)
		in.Name = "books"
		books, err := w.Create(t.Context(), p, in)
		if err != nil {
			t.Fatal(err)
		}
		both := w.mint(t, p, "shop", contract.NewKey{Owner: "partner", Product: "store"})
		own := w.mint(t, p, "shop", contract.NewKey{Owner: "partner"})
		for key, want := range map[string]string{both.Secret.Reveal(): "", own.Secret.Reveal(): "invalid_key"} {
			if got, _ := w.answer(t, books.Project.ID, key); got != want {
				t.Errorf("in the other project: %q, want %q", got, want)
			}
		}
		listed := w.list(t, p, "books")
		if !slices.Contains(listed, both.ID) || slices.Contains(listed, own.ID) {
			t.Errorf("the other project lists %v", listed)
		}
		leave := contract.ProjectChange{Product: contract.Null[string]()}
		if _, err := w.Update(t.Context(), p, leave.Of("books")); err != nil {
			t.Fatal(err)
		}
		if got, _ := w.answer(t, books.Project.ID, both.Secret.Reveal()); got != "invalid_key" {
			t.Errorf("once it has left the product: %q", got)
		}
		if got, _ := w.answer(t, shop.Project.ID, both.Secret.Reveal()); got != "" {
			t.Errorf("in the key's own project: %q", got)
		}
		if _, err := w.DeleteProduct(
			t.Context(), p, productRemoval("store", ""),
		); fault.CodeOf(err) != "product_in_use" {
			t.Errorf("a product with a project is deleted: %v", err)
		}
		if _, err := w.Update(t.Context(), p, leave.Of("shop")); err != nil {
			t.Fatal(err)
		}
		if _, err := w.DeleteProduct(t.Context(), p, productRemoval("store", "")); err != nil {
			t.Errorf("an empty product with a key: %v", err)
		}
		if got, _ := w.answer(t, shop.Project.ID, both.Secret.Reveal()); got != "" {
			t.Errorf("in the key's own project, without the product: %q", got)
		}
	})
}

func newTenant(name string) contract.TenantCreation {
	return contract.TenantCreation{Body: contract.NewTenant{Name: name}}
}

func tenantRemoval(ref, confirm string) contract.TenantRemoval {
	return contract.TenantRemoval{TenantPath: contract.TenantPath{Tenant: ref}, Confirm: confirm}
}

func productRemoval(ref, confirm string) contract.ProductRemoval {
	return contract.ProductRemoval{ProductPath: contract.ProductPath{Product: ref}, Confirm: confirm}
}

func (w *world) mint(t *testing.T, p access.Principal, project string, in contract.NewKey) contract.KeyWithSecret {
	t.Helper()
	minted, err := w.keys.Create(t.Context(), p, in.In(project))
	if err != nil {
		t.Fatal(err)
	}
	return minted
}

func (w *world) list(t *testing.T, p access.Principal, project string) (ids []string) {
	t.Helper()
	page, err := w.keys.List(t.Context(), p, contract.KeyList{ProjectPath: contract.ProjectPath{Project: project}})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range page.Items {
		ids = append(ids, key.ID)
	}
	return ids
}

func TestAttach_served(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		in := authenticated
		in.Name, in.Tenant = "shop", "acme"
		shop, p := w.create(t, in)
		in.Name, in.Tenant = "books", ""
		if _, err := w.Create(t.Context(), p, in); err != nil {
			t.Fatal(err)
		}
		key := w.mint(t, p, "shop", contract.NewKey{Owner: "partner", Tenant: "acme"})
		if _, err := w.keys.Create(t.Context(), p, contract.NewKey{
			Owner:  "partner",
			Tenant: "acme",
		}.In("books")); fault.CodeOf(err) != "unknown_tenant" {
			t.Errorf("where it is not attached: %v", err)
		}
		for range 2 { // the second changes nothing
			if attached, err := w.Attach(t.Context(), p, contract.Attachment("books", "acme")); err != nil ||
				!slices.Equal(attached.Projects, []string{"books", "shop"}) {
				t.Errorf("%+v, %v", attached, err)
			}
		}
		fallback := "acme-app"
		if _, err := w.UpdateTenant(t.Context(), p, contract.TenantUpdate{
			TenantPath: contract.TenantPath{Tenant: "acme"},
			Body:       contract.TenantChange{FallbackOwner: contract.Sent(fallback)},
		}); err != nil {
			t.Fatal(err)
		}
		for _, served := range w.served {
			i := slices.IndexFunc(served.Tenants, func(t snapshot.Tenant) bool { return t.Name == "acme" })
			if i < 0 || served.Tenants[i].FallbackOwner != fallback {
				t.Errorf("%s serves %+v", served.Name, served.Tenants)
			}
		}
		if _, err := w.DeleteTenant(t.Context(), p, tenantRemoval("acme", "")); fault.CodeOf(err) != "tenant_in_use" {
			t.Errorf("deleted while it is served: %v", err)
		}
		for _, project := range []string{"books", "shop"} {
			if _, err := w.Detach(t.Context(), p, contract.Attachment(project, "acme")); err != nil {
				t.Fatal(err)
			}
		}
		if got, _ := w.answer(t, shop.Project.ID, key.Secret.Reveal()); got != "wrong_tenant" {
			t.Errorf("its key, once it is detached: %q", got)
		}
		if _, err := w.DeleteTenant(t.Context(), p, tenantRemoval("acme", "")); fault.CodeOf(err) != "tenant_in_use" {
			t.Errorf("deleted while a key is of it: %v", err)
		}
		if _, err := w.Detach(
			t.Context(), p, contract.Attachment("shop", "default"),
		); fault.KindOf(err) != fault.NotFound {
			t.Errorf("default belongs to no team: %v", err)
		}
		own := shop.Project.ID
		all, err := w.Tenants(t.Context(), p, contract.TeamList{})
		if err != nil {
			t.Fatal(err)
		}
		for _, tenant := range all.Items {
			if tenant.Project == nil || *tenant.Project != own {
				continue
			}
			if _, err := w.Detach(
				t.Context(), p, contract.Attachment("shop", tenant.ID),
			); fault.CodeOf(err) != "built_in" {
				t.Errorf("default, by its id: %v", err)
			}
			if _, err := w.Attach(
				t.Context(), p, contract.Attachment("books", tenant.ID),
			); fault.CodeOf(err) != "built_in" {
				t.Errorf("another's default: %v", err)
			}
		}
		if _, err := w.CreateTenant(t.Context(), p, newTenant("spare")); err != nil {
			t.Fatal(err)
		}
		if _, err := w.DeleteTenant(t.Context(), p, tenantRemoval("spare", "")); err != nil {
			t.Errorf("an unused one: %v", err)
		}
	})
}

func TestKeyTypes_changedForAllKeys(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		created, p := w.create(t, authenticated)
		name := created.Project.Name
		in := contract.ProjectPath{Project: name}
		gold, err := w.CreateKeyType(t.Context(), p, contract.KeyTypeCreation{
			ProjectPath: in,
			Body: contract.NewKeyType{
				Name:   "gold",
				Scopes: []string{"read"},
				Limits: contract.Limits{"minute": 5},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		key := w.mint(t, p, name, contract.NewKey{Owner: "partner", KeyType: "gold"})
		scopes := []string{"read", "write"}
		changed, err := w.UpdateKeyType(t.Context(), p, contract.KeyTypeUpdate{
			KeyTypePath: contract.KeyTypePath{ProjectPath: in, KeyType: "gold"},
			Condition:   contract.Condition{IfMatch: gold.ETag},
			Body: contract.KeyTypeChange{
				Scopes: &scopes,
				Limits: contract.Sent(contract.Limits{"minute": 50}),
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		_, decision := w.answer(t, created.Project.ID, key.Secret.Reveal())
		if !slices.Equal(decision.Identity.Scopes, scopes) {
			t.Errorf("a call has the scopes %v", decision.Identity.Scopes)
		}
		served := w.lookup(t, key.Secret.Reveal())
		limits := policy.NewRealm(w.project(t, created.Project.ID)).KeyLimits(&served)
		if limits[snapshot.Minute] != 50 {
			t.Errorf("the key has the limits %v", limits)
		}
		_, err = w.UpdateKeyType(t.Context(), p, contract.KeyTypeUpdate{
			KeyTypePath: contract.KeyTypePath{ProjectPath: in, KeyType: gold.ID},
			Condition:   contract.Condition{IfMatch: gold.ETag},
		})
		if fault.KindOf(err) != fault.Stale {
			t.Errorf("with the ETag from before: %v", err)
		}
		_, err = w.DeleteKeyType(t.Context(), p, contract.KeyTypeDeletion{
			KeyTypePath: contract.KeyTypePath{ProjectPath: in, KeyType: "gold"},
			Condition:   contract.Condition{IfMatch: changed.ETag},
		})
		if fault.CodeOf(err) != "key_type_in_use" {
			t.Errorf("deleted while a key is of it: %v", err)
		}
		if _, err := w.CreateKeyType(t.Context(), p, contract.KeyTypeCreation{
			ProjectPath: in,
			Body:        contract.NewKeyType{Name: "spare", Scopes: []string{"read"}},
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.DeleteKeyType(t.Context(), p, contract.KeyTypeDeletion{
			KeyTypePath: contract.KeyTypePath{ProjectPath: in, KeyType: "spare"},
		}); err != nil {
			t.Errorf("an unused one: %v", err)
		}
	})
}

func (w *world) lookup(t *testing.T, plaintext string) (key snapshot.Key) {
	t.Helper()
	if key = w.key(policy.HashKey(plaintext)); key.ID == "" {
		t.Fatal("the gateway does not know the key")
	}
	return key
}

func TestLimits_ipRules(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		created, p := w.create(t, authenticated)
		id := created.Project.ID
		ip := contract.Limits{"second": 5}
		all := contract.Limits{"day": 1000}
		set := func(limits contract.ProjectLimitsChange) (contract.Project, error) {
			return w.Update(t.Context(), p, contract.ProjectChange{Limits: limits}.Of(id))
		}
		if _, err := set(contract.ProjectLimitsChange{IP: &ip, Project: &all}); err != nil {
			t.Fatal(err)
		}
		out, err := set(contract.ProjectLimitsChange{Project: &contract.Limits{}})
		if err != nil {
			t.Fatal(err)
		}
		served := w.project(t, id).Limits
		if served.IP[snapshot.Second] != 5 || !served.Project.None() {
			t.Errorf("served %+v", served)
		}
		if out.Limits.IP["second"] != 5 {
			t.Errorf("returned %+v", out.Limits)
		}
		allow, deny := []string{"10.0.0.0/8"}, []string{"10.9.0.0/16", "10.9.0.0/16"}
		version, err := w.UpdateVersion(t.Context(), p, contract.VersionChange{
			IP: contract.IPRulesChange{Allow: &allow, Deny: &deny},
		}.Of(id, created.Project.Versions[0].ID))
		if err != nil {
			t.Fatal(err)
		}
		if rules := w.project(t, id).Versions[0].Access.IP; len(rules.Allow) != 1 || len(rules.Deny) != 1 {
			t.Errorf("served %+v, want one range allowed and one denied", rules)
		}
		if mode := version.RequestsAuth.Mode; mode != "authenticate" || !slices.Equal(version.IP.Allow, allow) {
			t.Errorf("returned mode %s and allowed %v, want authenticate and %v", mode, version.IP.Allow, allow)
		}
	})
}

func TestTenants_pages(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		in := authenticated
		in.Name, in.Tenant = "shop", "acme"
		_, p := w.create(t, in)
		for _, name := range []string{"zeta", "beta"} {
			if _, err := w.CreateTenant(t.Context(), p, newTenant(name)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.Attach(t.Context(), p, contract.Attachment("shop", "zeta")); err != nil {
			t.Fatal(err)
		}
		var names []string
		for page := (models.Page{Limit: 2}); ; {
			list, err := w.Served(t.Context(), p, "shop", page)
			if err != nil {
				t.Fatal(err)
			}
			for _, tenant := range list.Items {
				names = append(names, tenant.Name)
			}
			if page.Cursor = list.Next; page.Cursor == "" {
				break
			}
		}
		if !slices.Equal(names, []string{"acme", "default", "zeta"}) {
			t.Errorf("it serves %v", names)
		}
		if spare, err := w.Attachable(t.Context(), p, "shop"); err != nil || !slices.Equal(spare, []string{"beta"}) {
			t.Errorf("it could serve %v, %v", spare, err)
		}
		_, err := w.Tenants(t.Context(), p, contract.TeamList{Team: "team_of_others"})
		if fault.KindOf(err) != fault.NotFound {
			t.Errorf("another team's: %v", err)
		}
		if own, err := w.Tenants(t.Context(), p, contract.TeamList{Team: p.HomeTeam}); err != nil {
			t.Errorf("the team's: %v", err)
		} else if len(own.Items) != 4 {
			t.Errorf("the team's: %v", own.Items)
		}
	})
}
