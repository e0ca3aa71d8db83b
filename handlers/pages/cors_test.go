package pages_test

import (
	"strings"
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

func TestCORS_page(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	const action = "/projects/shop/cors"
	page := s.Get("/projects/shop/limits").Says("#cors", "your upstreams handle CORS")
	opened := page.Revision("origins")
	s.Post(action, "revision", opened, "origins", "https://app.example\r\nhttps://App.example/x",
		"methods", "GET", "headers", "a b", "max_age", "soon", "credentials", "true").
		Shows(422, "Limits and CORS").
		Says("[name=origins]", "https://App.example/x").
		Says("#cors-origins-error", "send it: https://app.example").
		Says("#cors-headers-error", "a b: Use a header name").
		Says("#cors-age-error", "Enter a whole number.").
		Holds("max_age", "soon").
		Lacks("#cors-exposed-error")
	s.Post(action, "revision", opened, "origins", "https://app.example\r\nhttp://localhost:3000",
		"methods", "GET", "methods", "POST", "headers", "Content-Type", "max_age", "3,600",
		"credentials", "true").
		LeadsTo("/projects/shop/limits")
	now := s.Get("/projects/shop/limits").
		Says("[data-flash]", "Saved the CORS settings for shop").
		Holds("max_age", "3600").
		Says("[name=headers]", "Content-Type")
	if got := strings.TrimSpace(now.Find("[name=origins]").Text()); got !=
		"https://app.example\nhttp://localhost:3000" {
		t.Errorf("origins %q", got)
	}
	if n := now.Find("[name=methods][checked]").Length(); n != 2 {
		t.Errorf("%d methods are ticked, want 2", n)
	}
	conflict := s.Post(action, "revision", opened, "origins", "*", "methods", "GET").
		Shows(412, "Changed since you opened this page").
		Says("tbody", "https://app.example, http://localhost:3000").
		Says("tbody", "*")
	s.Post(action,
		"revision", conflict.Value("[name=revision]"),
		"origins", conflict.Value("[name=origins]"),
		"methods", conflict.Value("[name=methods]"),
		"credentials", conflict.Value("[name=credentials]"),
	).LeadsTo("/projects/shop/limits")
	last := s.Get("/projects/shop/limits").Says("[name=origins]", "*").Revision("origins")
	s.Post(action, "revision", last, "origins", "", "methods", "GET").LeadsTo("/projects/shop/limits")
	if got := strings.TrimSpace(s.Get("/projects/shop/limits").Find("[name=origins]").Text()); got != "" {
		t.Errorf("origins after the removal: %q", got)
	}
}
