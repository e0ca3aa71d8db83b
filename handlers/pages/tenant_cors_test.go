package pages_test

import (
	"strings"
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

func TestTenantCORS_page(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	s.Post("/projects/shop/tenants", "name", "acme", "display_name", "Acme Ltd").LeadsTo("/projects/shop/tenants")
	tenant := s.Get("/projects/shop/tenants").Find("tbody a:contains('Acme')").First().AttrOr("href", "")
	s.Get("/projects/shop/limits").Lacks("#cors a[href='" + tenant + "']")
	opened := s.Get(tenant).
		Shows(200, "Acme Ltd").
		Says("#cors", "the projects' settings apply").
		Revision("origins")
	s.Post(tenant+"/cors", "revision", opened, "origins", "https://Acme.example", "methods", "GET",
		"max_age", "soon").
		Shows(422, "Acme Ltd").
		Says("[name=origins]", "https://Acme.example").
		Says("#cors-origins-error", "send it: https://acme.example").
		Says("#cors-age-error", "Enter a whole number.").
		Says("#cors", "the projects' settings apply").
		Holds("display_name", "Acme Ltd")
	s.Post(tenant+"/cors", "revision", opened, "origins", "https://acme.example", "methods", "GET").
		LeadsTo(tenant)
	s.Get(tenant).Says("[data-flash]", "Saved").Says("[name=origins]", "https://acme.example")
	s.Get("/projects/shop/limits").Says("#cors a[href='"+tenant+"']", "Acme Ltd")
	s.Get("/audit").Says("main", `changed the CORS settings of the tenant "acme"`)

	conflict := s.Post(tenant+"/cors", "revision", opened, "origins", "*", "methods", "GET").
		Shows(412, "Changed since you opened this page").
		Says("tbody", "https://acme.example").
		Says("tbody", "*")
	s.Post(tenant+"/cors",
		"revision", conflict.Value("[name=revision]"),
		"origins", conflict.Value("[name=origins]"),
		"methods", conflict.Value("[name=methods]"),
	).LeadsTo(tenant)
	last := s.Get(tenant).Says("[name=origins]", "*").Revision("origins")
	s.Post(tenant+"/cors", "revision", last, "origins", "", "methods", "GET").LeadsTo(tenant)
	if got := strings.TrimSpace(s.Get(tenant).Find("[name=origins]").Text()); got != "" {
		t.Errorf("origins after the removal: %q", got)
	}
	s.Get("/projects/shop/limits").Lacks("#cors a[href='" + tenant + "']")
}
