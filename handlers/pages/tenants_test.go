package pages_test

import (
	"strings"
	"testing"

	"postern/models"
	"postern/service/access"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

func TestTenants_pages(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	const list = "/projects/shop/tenants"
	s.Get("/projects/shop").Says("nav[aria-label=Project] a[href='"+list+"']", "Tenants")
	s.Get(list).
		Shows(200, "Tenants").
		Says("nav[aria-label=Project] [aria-current]", "Tenants").
		Says("tbody", "this project's own tenant").
		Says("main", "Every project has its own tenant").Lacks("a[href$='detach']").Lacks("#tenant-attach")

	s.Post(list, "name", "42", "display_name", "Acme Ltd", "fallback_owner", " ").Shows(422, "Tenants").
		Holds("name", "42").
		Holds("display_name", "Acme Ltd").
		Says("#tenant-name-error", "lowercase").
		Says("details[open]", "Attach a tenant")
	s.Post(list, "name", "default").Shows(422, "Tenants").Says("#tenant-name-error", "its own tenant named default")
	s.Post(list, "name", "Acme", "display_name", "Acme Ltd", "fallback_owner", "acme-app").LeadsTo(list)
	page := s.Get(list).
		Says("[data-flash]", "Attached the tenant").
		Says("tbody", "Acme Ltd").
		Says("tbody", "acme-app").Lacks("#tenant-attach")
	tenant := page.Find("tbody a[href^='/tenants/']").First().AttrOr("href", "")
	s.Post(list, "name", "acme").Shows(409, "Tenants").Says("#tenant-name-error", `already has a tenant "acme"`)

	detach := page.Find("a[data-dialog='Detach Acme Ltd']").AttrOr("href", "")
	s.Get(detach).
		Shows(200, "Detach Acme Ltd").
		Says("dl", "shop").
		Says("[data-panel]", "with the tenant's keys will get 403")
	s.Post(detach+"/detach").Shows(422, "Detach Acme Ltd").Says("[role=alert]", "Check the box")
	s.Post(detach+"/detach", "confirm", "true").LeadsTo(list)
	s.Get(list).
		Says("[data-flash]", "Detached").Lacks("tbody a[href='"+tenant+"']").
		Says("#tenant-attach option", "acme")
	s.Get(detach).Shows(404, "Page not found")
	s.Post(detach+"/detach", "confirm", "true").Shows(404, "Page not found")
	s.Post(list, "tenant", "acme").LeadsTo(list)
	s.Post(list, "tenant", "unknown").Shows(404, "Page not found")

	opened := s.Get(tenant).
		Shows(200, "Acme Ltd").
		Says("main", "shop").
		Holds("fallback_owner", "acme-app").Revision("fallback_owner")
	s.Post(tenant, "revision", opened, "display_name", "Acme", "fallback_owner", "").LeadsTo(tenant)
	s.Get(tenant).Shows(200, "Acme").Says("[data-flash]", "Saved").Holds("fallback_owner", "")
	s.Post(tenant,
		"revision", s.Get(tenant).Revision("fallback_owner"), "display_name", "Kept",
		"fallback_owner", strings.Repeat("x", 200),
	).Shows(422, "Acme").
		Holds("display_name", "Kept").
		Says("#tenant-fallback-error", "128")
	conflict := s.Post(tenant, "revision", opened, "display_name", "Acme Inc", "fallback_owner", "other").
		Shows(412, "Changed since you opened this page").
		Says("tbody", "Acme Inc").Says("tbody", "none")
	var mine []string
	for _, name := range []string{"revision", "display_name", "fallback_owner"} {
		mine = append(mine, name, conflict.Value("form:has([name=fallback_owner]) [name="+name+"]"))
	}
	s.Post(tenant, mine...).LeadsTo(tenant)
	s.Get(tenant).Shows(200, "Acme Inc").Holds("fallback_owner", "other")

	s.Post(tenant+"/delete").Shows(422, "Acme Inc").Says("#erase-confirm-error", "type the tenant's name")
	s.Post(tenant+"/delete", "confirm", "true").
		Shows(409, "Acme Inc").
		Says("[role=alert]", "1 project serves this tenant: shop")
	s.Post(detach+"/detach", "confirm", "true").LeadsTo(list)
	s.Post(tenant+"/delete", "confirm", "true").LeadsTo("/tenants")
	s.Get(tenant).Shows(404, "Page not found")
}

func TestTenants_teamPage(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewOwner(t, db)
	s.Get("/projects").Says("nav[aria-label=Team] a[href='/tenants']", "Tenants")
	page := s.Get("/tenants").Shows(200, "Tenants").Says("main", "No tenants yet").Lacks("table")
	team := page.Value("[name=team]")
	s.Post("/tenants", "team", team, "name", "a", "display_name", "A").
		Shows(422, "Tenants").
		Holds("name", "a").
		Holds("display_name", "A").
		Says("details[open]", "Create a tenant")
	made := s.Post("/tenants", "team", team, "name", "acme")
	made.LeadsTo(made.Header.Get("Location"))
	s.Get(made.Header.Get("Location")).
		Shows(200, "acme").
		Says("main", "No project serves this tenant").
		Says("[data-flash]", "Attach it")
	s.Get("/tenants").Says("tbody", "acme").Says("tbody", "no project").Says("tbody", "the project's")

	path := made.Header.Get("Location")
	s.Get(path).Says("section[aria-labelledby=delete-confirm-title]", "No project serves it")
	s.Post(path+"/users", "email", "ana@example.com")
	s.Get(path).Says("section[aria-labelledby=erase-confirm-title] dl", "Users").Lacks("#delete-confirm")
	s.Post(path+"/delete", "typed_name", "acm").Shows(422, "acme").Says("#erase-confirm-error", "acme")
	s.Post(path+"/delete", "confirm", "true").Shows(409, "acme").Says("[role=alert]", "The tenant has 1 user.")
	s.Post(path+"/delete", "typed_name", "acme").LeadsTo("/tenants")
	s.Get("/tenants").Says("[data-flash]", "Deleted").Says("main", "No tenants yet")
}

func TestProducts_pages(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := controlplane.NewOwnerWithShop(t, db)
		page := s.Get("/products").
			Shows(200, "Products").
			Says("main", "No products yet").
			Says("nav[aria-label=Team] [aria-current]", "Products")
		team := page.Value("[name=team]")
		s.Post("/products", "team", team, "name", "42", "display_name", "The store").Shows(422, "Products").
			Holds("name", "42").Holds("display_name", "The store").Says("#product-name-error", "lowercase")
		made := s.Post("/products", "team", team, "name", "store")
		path := made.Header.Get("Location")
		made.LeadsTo(path)
		s.Post("/products", "team", team, "name", "store").
			Shows(409, "Products").
			Says("#product-name-error", `already has a product "store"`)
		opened := s.Get(path).Shows(200, "store").Says("main", "No projects yet").
			Says("main a[href='/projects']", "Go to your projects").Revision("display_name")

		s.Post("/projects/shop/product", "in_product", "store").LeadsTo("/projects/shop/settings")
		s.Get("/products").Says("tbody a[href='/projects/shop']", "shop")
		s.Get(path).Says("ul a[href='/projects/shop']", "shop")

		s.Post(path, "revision", opened, "display_name", "The store").LeadsTo(path)
		s.Post(path, "revision", s.Get(path).Revision("display_name"), "display_name", strings.Repeat("x", 300)).
			Shows(422, "The store").
			Says("#product-display-error", "characters")
		s.Post(path, "revision", opened, "display_name", "Mine").
			Shows(412, "Changed since you opened this page").
			Says("tbody", "The store").
			Says("tbody", "Mine")

		s.Get(path).Says("section[aria-labelledby=erase-confirm-title]", "no longer have a product")
		s.Post(path+"/delete").Shows(422, "The store").Says("#erase-confirm-error", "type the product's name")
		s.Post(path+"/delete", "typed_name", "stor").Shows(422, "The store").Says("#erase-confirm-error", "store")
		s.Post(path+"/delete", "confirm", "true").Shows(409, "The store").Says("[role=alert]", "1 project: shop")
		s.Post(path+"/delete", "typed_name", "store").LeadsTo("/products")
		s.Get("/products").Says("[data-flash]", "Deleted").Says("main", "No products yet")
	})
}

// A viewer sees what there is, and no form; a form that is sent anyway is refused
// before anything is said of its fields.
func TestTenants_viewer(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	o := controlplane.NewFixture(t, db)
	has := o.NewObjects(t, "attached", "/products/:product") // with a product and a tenant
	for _, path := range []string{
		"/projects/" + has.ProjectName + "/tenants",
		"/tenants",
		"/tenants/" + has.Tenant,
		"/products",
		"/products/" + has.Product,
	} {
		if got := o.Do(t, "GET", path, "", o.Members[access.Member]); got.Status != 200 ||
			!strings.Contains(got.Raw, `action="`+path) {
			t.Errorf("%s: a member finds no form: %d", path, got.Status)
		}
		if got := o.Do(t, "GET", path, "", o.Members[access.Viewer]); got.Status != 200 ||
			strings.Contains(got.Raw, `method="post" action="`+path) {
			t.Errorf("%s: a viewer finds a form: %d", path, got.Status)
		}
	}
}

// The page of a tenant that no project serves attaches it to one.
func TestTenantPage_attach(t *testing.T) {
	t.Parallel()
	s, _ := controlplane.NewOwnerWithShop(t, state.OpenSQLite(t))
	tenant := s.Post("/tenants", "name", "acme", "display_name", "Acme Ltd").Location()
	s.Get(tenant).Shows(200, "Acme Ltd").
		Says("main", "No project serves this tenant").
		Says("#attach-project option", "shop")
	s.Post(tenant+"/projects", "project", "unknown").Shows(404, "Page not found")
	s.Post(tenant+"/projects", "project", "shop").LeadsTo(tenant + "#served")
	s.Get(tenant).
		Says("[data-flash]", "Attached the tenant Acme Ltd").
		Says("#served ~ ul a[href='/projects/shop']", "shop").
		Lacks("#attach-project")

	own := s.Get("/projects/shop/tenants").Find("tbody a[href^='/tenants/']")
	for i := range own.Length() {
		if path := own.Eq(i).AttrOr("href", ""); path != tenant {
			s.Get(path).Lacks("#attach-project")
		}
	}
}

// An invitation link leads to the page of an app client. Without one, the user's page says where to create it.
func TestUserPage_invitationWithoutAppClient(t *testing.T) {
	t.Parallel()
	s, _ := controlplane.NewOwnerWithShop(t, state.OpenSQLite(t))
	tenant := s.Post("/tenants", "name", "acme", "display_name", "Acme Ltd").Location()
	user := s.Post(tenant+"/users", "email", "ana@example.com").Location()
	s.Get(user).
		Says("[data-flash]", "They need an invitation link (see below)").
		Says("#invitation ~ div", "this tenant needs an app client").
		Says("#invitation ~ div a[href='"+tenant+"#served']", "Attach the tenant to a project first").
		Lacks("#app-client")
	s.Post(tenant+"/projects", "project", "shop").LeadsTo(tenant + "#served")
	s.Get(user).Says("#invitation ~ div a[href='/projects/shop/login']", "Create an app client in shop")
}
