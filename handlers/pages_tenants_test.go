package handlers_test

import (
	"strings"
	"testing"

	"postern/models"
	"postern/service/access"
	"postern/testkit/state"
)

func TestTenantsOnTheirPages(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := withShop(t, db)
		const list = "/projects/shop/tenants"
		s.get("/projects/shop").says("nav.tabs a[href='"+list+"']", "Tenants")
		s.get(list).
			is(200, "shop").
			says("nav.tabs [aria-current]", "Tenants").
			says("tbody", "own tenant of this project").
			says("main", "So far there is only default").lacks("a[href$='detach']").lacks("#tenant-attach")

		s.post(list, "name", "Acme", "display_name", "Acme Ltd", "fallback_owner", " ").is(422, "shop").
			holds("name", "Acme").
			holds("display_name", "Acme Ltd").
			says("#tenant-name-error", "lower-case").
			says("details[open]", "Serve another")
		s.post(list, "name", "default").is(422, "shop").says("#tenant-name-error", "of its own")
		s.post(list, "name", "acme", "display_name", "Acme Ltd", "fallback_owner", "acme-app").leadsTo(list)
		page := s.get(list).
			says("[data-flash]", "serves the tenant").
			says("tbody", "Acme Ltd").
			says("tbody", "acme-app").lacks("#tenant-attach")
		tenant := page.Find("tbody a[href^='/tenants/']").First().AttrOr("href", "")
		s.post(list, "name", "acme").is(409, "shop").says("#tenant-name-error", `"acme" already`)

		detach := page.Find("a[data-dialog='Detach Acme Ltd']").AttrOr("href", "")
		s.get(detach).
			is(200, "Detach Acme Ltd").
			says("dl", "shop").
			says("[data-panel]", "answers keys of Acme Ltd with 403")
		s.post(detach+"/detach").is(422, "Detach Acme Ltd").says("[role=alert]", "Tick the box")
		s.post(detach+"/detach", "confirm", "true").leadsTo(list)
		s.get(list).
			says("[data-flash]", "no more").lacks("tbody a[href='"+tenant+"']").
			says("#tenant-attach option", "acme")
		s.get(detach).is(404, "There is nothing here")
		s.post(detach+"/detach", "confirm", "true").is(404, "There is nothing here")
		s.post(list, "tenant", "acme").leadsTo(list)
		s.post(list, "tenant", "nobody").is(404, "There is nothing here")

		opened := s.get(tenant).
			is(200, "Acme Ltd").
			says("main", "shop").
			holds("fallback_owner", "acme-app").revisionAt("fallback_owner")
		s.post(tenant, "revision", opened, "display_name", "Acme", "fallback_owner", "").leadsTo(tenant)
		s.get(tenant).is(200, "Acme").says("[data-flash]", "saved").holds("fallback_owner", "")
		s.post(tenant, "revision", s.get(tenant).revisionAt("fallback_owner"), "display_name", "Kept", "fallback_owner", strings.Repeat("x", 200)).
			is(422, "Acme").holds("display_name", "Kept").says("#tenant-fallback-error", "128")
		conflict := s.post(tenant, "revision", opened, "display_name", "Acme Inc", "fallback_owner", "other").
			is(412, "Changed since you opened it").
			says("tbody", "Acme Inc").says("tbody", "none")
		var mine []string
		for _, name := range []string{"revision", "display_name", "fallback_owner"} {
			mine = append(mine, name, conflict.value("form:has([name=fallback_owner]) [name="+name+"]"))
		}
		s.post(tenant, mine...).leadsTo(tenant)
		s.get(tenant).is(200, "Acme Inc").holds("fallback_owner", "other")

		s.post(tenant+"/delete").is(422, "Acme Inc").says("[role=alert]", "Tick the box")
		s.post(tenant+"/delete", "confirm", "true").
			is(409, "Acme Inc").
			says("[role=alert]", "1 project serves this tenant: shop")
		s.post(detach+"/detach", "confirm", "true").leadsTo(list)
		s.post(tenant+"/delete", "confirm", "true").leadsTo("/tenants")
		s.get(tenant).is(404, "There is nothing here")
	})
}

func TestTheTeamsTenantsOnTheirPage(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newOwner(t, db)
		s.get("/projects").says("nav.tabs a[href='/tenants']", "Tenants")
		page := s.get("/tenants").is(200, "Tenants").says("main", "No tenants yet").lacks("table")
		team := page.value("[name=team]")
		s.post("/tenants", "team", team, "name", "a", "display_name", "A").
			is(422, "Tenants").
			holds("name", "a").
			holds("display_name", "A").
			says("details[open]", "Create a tenant")
		made := s.post("/tenants", "team", team, "name", "acme")
		made.leadsTo(made.header.Get("Location"))
		s.get(made.header.Get("Location")).
			is(200, "acme").
			says("main", "No project serves this tenant").
			says("[data-flash]", "Attach it")
		s.get("/tenants").says("tbody", "acme").says("tbody", "no project").says("tbody", "the project's")
	})
}

func TestProductsOnTheirPages(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := withShop(t, db)
		page := s.get("/products").
			is(200, "Products").
			says("main", "No products yet").
			says("nav.tabs [aria-current]", "Products")
		team := page.value("[name=team]")
		s.post("/products", "team", team, "name", "Store", "display_name", "The store").is(422, "Products").
			holds("name", "Store").holds("display_name", "The store").says("#product-name-error", "lower-case")
		made := s.post("/products", "team", team, "name", "store")
		path := made.header.Get("Location")
		made.leadsTo(path)
		s.post("/products", "team", team, "name", "store").
			is(409, "Products").
			says("#product-name-error", `"store" already`)
		opened := s.get(path).is(200, "store").says("main", "No project is in it").revisionAt("display_name")

		s.post("/projects/shop/product", "in_product", "store").leadsTo("/projects/shop")
		s.get("/products").says("tbody a[href='/projects/shop']", "shop")
		s.get(path).says("ul a[href='/projects/shop']", "shop")

		s.post(path, "revision", opened, "display_name", "The store").leadsTo(path)
		s.post(path, "revision", s.get(path).revisionAt("display_name"), "display_name", strings.Repeat("x", 300)).
			is(422, "The store").
			says("#product-display-error", "characters")
		s.post(path, "revision", opened, "display_name", "Mine").
			is(412, "Changed since you opened it").
			says("tbody", "The store").
			says("tbody", "Mine")

		s.post(path+"/delete").is(422, "The store").says("[role=alert]", "Tick the box")
		s.post(path+"/delete", "confirm", "true").is(409, "The store").says("[role=alert]", "1 project: shop")
		s.post("/projects/shop/product", "in_product", "").leadsTo("/projects/shop")
		s.post(path+"/delete", "confirm", "true").leadsTo("/products")
		s.get("/products").says("[data-flash]", "deleted").says("main", "No products yet")
	})
}

// A viewer sees what there is, and no form; a form that is sent anyway is refused
// before anything is said of its fields.
func TestViewersSeeTenantsAndProductsWithoutForms(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newOffice(t, db)
		has := o.furnish(t, "attached", "")
		for _, path := range []string{"/projects/" + has.projectName + "/tenants", "/tenants", "/tenants/" + has.tenant, "/products", "/products/" + has.product} {
			if got := o.ask(t, "GET", path, "", o.others[access.Member]); got.status != 200 || !strings.Contains(got.raw, `action="`+path) {
				t.Errorf("%s: a member finds no form: %d", path, got.status)
			}
			if got := o.ask(t, "GET", path, "", o.others[access.Viewer]); got.status != 200 || strings.Contains(got.raw, `action="`+path) {
				t.Errorf("%s: a viewer finds a form: %d", path, got.status)
			}
		}
	})
}
