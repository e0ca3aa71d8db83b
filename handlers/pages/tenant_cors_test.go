package pages_test

import (
	"strings"
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

func TestCORSOfATenant(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	s.Post("/projects/shop/tenants", "name", "acme", "display_name", "Acme Ltd").LeadsTo("/projects/shop/tenants")
	tenant := s.Get("/projects/shop/tenants").Find("tbody a:contains('Acme')").First().AttrOr("href", "")
	s.Get("/projects/shop/limits").Lacks("#cors a[href='" + tenant + "']")
	opened := s.Get(tenant).
		Shows(200, "Acme Ltd").
		Says("#cors", "the projects' settings apply").
		Revision("cors_origins")
	s.Post(tenant+"/cors", "revision", opened, "cors_origins", "https://Acme.example", "cors_methods", "GET",
		"max_age", "soon").
		Shows(422, "Acme Ltd").
		Says("[name=cors_origins]", "https://Acme.example").
		Says("#cors-origins-error", "here: https://acme.example").
		Says("#cors-age-error", "86400").
		Says("#cors", "the projects' settings apply").
		Holds("display_name", "Acme Ltd")
	s.Post(tenant+"/cors", "revision", opened, "cors_origins", "https://acme.example", "cors_methods", "GET").
		LeadsTo(tenant)
	s.Get(tenant).Says("[data-flash]", "saved").Says("[name=cors_origins]", "https://acme.example")
	s.Get("/projects/shop/limits").Says("#cors a[href='"+tenant+"']", "Acme Ltd")
	s.Get("/audit").Says("main", "changed the CORS of tenant acme")

	conflict := s.Post(tenant+"/cors", "revision", opened, "cors_origins", "*", "cors_methods", "GET").
		Shows(412, "Changed since you opened it").
		Says("tbody", "https://acme.example").
		Says("tbody", "*")
	s.Post(tenant+"/cors",
		"revision", conflict.Value("[name=revision]"),
		"cors_origins", conflict.Value("[name=cors_origins]"),
		"cors_methods", conflict.Value("[name=cors_methods]"),
	).LeadsTo(tenant)
	last := s.Get(tenant).Says("[name=cors_origins]", "*").Revision("cors_origins")
	s.Post(tenant+"/cors", "revision", last, "cors_origins", "", "cors_methods", "GET").LeadsTo(tenant)
	if got := strings.TrimSpace(s.Get(tenant).Find("[name=cors_origins]").Text()); got != "" {
		t.Errorf("origins after the removal: %q", got)
	}
	s.Get("/projects/shop/limits").Lacks("#cors a[href='" + tenant + "']")
}
