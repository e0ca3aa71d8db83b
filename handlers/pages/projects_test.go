package pages_test

import (
	"fmt"
	"strings"
	"testing"

	"postern/core/policy"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

func TestProject_create(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewOwner(t, db)
	if s.Get("/projects/new").Shows(200, "Create a project").Find("input[name=require_keys][checked]").Length() != 1 {
		t.Error("a new project asks for no keys unless told to")
	}
	s.Post("/projects/new", "target", "ftp://x", "name", "42", "require_keys", "true").
		Shows(422, "Create a project").
		Holds("target", "ftp://x").
		Holds("name", "42").
		Says("#target-error", "http").
		Says("#name-error", "lowercase")
	made := s.Submit("/projects/new", "target", " http://127.0.0.1:9 ", "name", "shop", "require_keys", "true").
		Shows(200, "shop is ready")
	key := controlplane.Clean(made.Find("section[aria-labelledby=keys] code").Text())
	if !policy.WellFormedKey(key) {
		t.Errorf("the new key %q is none", key)
	}
	address := s.Server.Config.Address("shop", "1.0.0", "prod")
	made.Says("dl", address).Says("#try-curl", key).Says("#try-curl", address)
	if made.Header.Get("Cache-Control") != "no-store" {
		t.Error("a page with a key may be cached")
	}
	s.Post("/projects/new", "target", "http://127.0.0.1:9", "name", "shop").Shows(409, "Create a project").
		Says("#name-error", `"shop" is taken`).Lacks("input[name=require_keys][checked]")
	s.Submit("/projects/new", "target", "http://127.0.0.1:9", "name", "open").
		Shows(200, "open is ready").
		Lacks("section[aria-labelledby=keys]")

	list := s.Get("/projects").Shows(200, "Projects")
	if strings.Contains(list.Raw, key) {
		t.Error("the key is shown a second time")
	}
	list.Says("li:nth-child(1)", "Passthrough").Says("li:nth-child(1)", "no active keys").
		Says("li:nth-child(2)", address).
		Says("li:nth-child(2)", "API keys").Says("li:nth-child(2)", "1 active key · never exported")
	s.Get(list.Find("li:nth-child(2) a:contains(Configure)").AttrOr("href", "")).Shows(200, "shop")
	s.Get(list.Find("li:nth-child(2) a:contains(Export)").AttrOr("href", "")).Shows(200, "Export shop")
}

// TestCreateProject_slug makes a name of what was typed, which stays as the display name.
func TestCreateProject_slug(t *testing.T) {
	t.Parallel()
	s := controlplane.NewOwner(t, state.OpenSQLite(t))
	s.Get("/projects/new").Says("form:has(#name[data-slug=name-slug])", "Name")
	s.Submit("/projects/new", "target", "http://127.0.0.1:9", "name", "My Shop API").
		Shows(200, "My Shop API is ready").
		Says("dl", "my-shop-api")
	s.Get("/projects/my-shop-api").Shows(200, "My Shop API")
	s.Post("/projects/new", "target", "http://127.0.0.1:9", "name", "my shop API").Shows(409, "Create a project").
		Holds("name", "my shop API").
		Says("#name-error", `"my-shop-api" is taken`)
	body := `{"target":"http://127.0.0.1:9","name":"My Shop API"}`
	if got := s.Do("POST", "/proxy", body, []string{"Content-Type", "application/json"}); got.Status != 422 {
		t.Errorf("the API takes a name with spaces: %d %s", got.Status, got.Raw)
	}
}

// TestCreateProject_target offers the scheme that a target lacks, and says when the target is the gateway.
func TestCreateProject_target(t *testing.T) {
	t.Parallel()
	s := controlplane.NewOwner(t, state.OpenSQLite(t))
	for typed, want := range map[string]string{
		"api.example.com/v1": "https://api.example.com/v1",
		"localhost:3000":     "http://localhost:3000",
		"not a url":          "not a url",
		"ftp://example.com":  "ftp://example.com",
	} {
		s.Post("/projects/new", "target", typed, "name", "shop").Shows(422, "Create a project").Holds("target", want)
	}
	s.Post("/projects/new", "target", "127.0.0.1:9", "name", "shop").
		Says("#target-error", "The field now contains http://127.0.0.1:9. Select “Create project”, or change the URL.")
	s.Post("/projects/new", "target", s.Server.Config.Address("shop", "1.0.0", "prod"), "name", "loop").
		Shows(422, "Create a project").
		Says("#target-error", "the gateway's own URL")
	s.Post("/projects/new", "target", s.Server.Config.PublicURL, "name", "loop").
		Shows(422, "Create a project").
		Says("#target-error", "This is the URL of this dashboard.")
}

// TestOverview_header has the export next to the key, and shows targets as text until someone edits them.
func TestOverview_header(t *testing.T) {
	t.Parallel()
	s, _ := controlplane.NewOwnerWithShop(t, state.OpenSQLite(t))
	page := s.Get("/projects/shop").
		Says("main a[href='/projects/shop/export'][data-dialog]", "Export").
		Says("main dl code", "http://127.0.0.1:9").
		Says("details:has([name=target]):not([open]) summary", "Edit target").
		Says(".stats", "Refused by Postern").
		Says(".stats", "Upstream 4xx").
		Says(".stats", "Upstream 5xx")
	if strings.Contains(page.Find(".stats").Text(), "%") {
		t.Errorf("the overview has percentages: %s", controlplane.Clean(page.Find(".stats").Text()))
	}
	s.Post(page.Action("target"), "revision", page.Revision("target"), "target", "api.example.com").
		Shows(422, "shop").
		Says("details[open] summary", "Edit target").
		Holds("target", "https://api.example.com").
		Says("main dl code", "http://127.0.0.1:9")
}

func TestProjectCard_addresses(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewOwner(t, db)
	var environments []string
	for i := range 7 {
		environments = append(environments, fmt.Sprintf(`"env-%d":{"target":"http://127.0.0.1:9"}`, i))
	}
	body := `{"target":"http://127.0.0.1:9","name":"many","environments":{` + strings.Join(environments, ",") + `}}`
	if made := s.Do("POST", "/proxy", body, []string{"Content-Type", "application/json"}); made.Status != 201 {
		t.Fatalf("POST /proxy: %d %s", made.Status, made.Raw)
	}
	card := s.Get("/projects").Says("li", "3 more environments")
	if n := card.Find("li code").Length(); n != 4 {
		t.Errorf("the card shows %d addresses, want 4", n)
	}
}

func TestAccessBadge(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewOwner(t, db)
	pairs := `"jwt":{"allowed_pairs":[{"iss":"http://127.0.0.1:9","aud":"shop"}]}`
	for name, tt := range map[string]struct{ auth, want string }{
		"keys":   {`{"mode":"authenticate"}`, "API keys"},
		"tokens": {`{"mode":"authenticate","methods":["jwt"],` + pairs + `}`, "Tokens"},
		"both":   {`{"mode":"authenticate","methods":["api_key","jwt"],` + pairs + `}`, "Keys or tokens"},
		"open":   {`{"mode":"passthrough"}`, "Passthrough"},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.WithT(t)
			body := `{"target":"http://127.0.0.1:9","name":"` + name + `","requests_auth":` + tt.auth + `}`
			callAPI(s, "POST", "/proxy", body)
			card := s.Get("/projects").Find("li:has(a[href='/projects/" + name + "'])")
			if got := controlplane.Clean(card.Find(".badge").First().Text()); got != tt.want {
				t.Errorf("the badge says %q, want %q", got, tt.want)
			}
		})
	}
}

func TestOverview_oldAddresses(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	got := s.Get("/projects/shop?keys_owner=billing&keys_before=key_1")
	to := got.Header.Get("Location")
	if want := "/projects/shop/keys?keys_owner=billing&keys_before=key_1"; got.Status != 301 || to != want {
		t.Errorf("the old list of keys: %d to %q, want 301 to %q", got.Status, to, want)
	}
	s.Get("/projects/shop?other=x").Shows(200, "shop").
		Says("main a[href='/projects/shop/keys?create=true']", "Create a key")
	s.Get("/projects/shop/keys?create=true").Says("details[open]", "Create a key").Says("form:has([autofocus])",
		"Owner")
	s.Get("/projects/shop/versions/9.9.9/access").Shows(404, "Page not found")
}

func TestVersionPages_choice(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	s.Get("/projects/shop/versions/1.0.0/access").Lacks("nav[aria-label=Version]")
	s.Post("/projects/shop/versions", "name", "2.0.0", "copy_from", "1.0.0").LeadsTo("/projects/shop")
	for _, page := range []string{"access", "rules", "transforms", "openapi"} {
		old := s.Get("/projects/shop/versions/1.0.0/"+page).
			Says("nav[aria-label=Version] [aria-current]", "1.0.0").
			Says("nav[aria-label=Project] [aria-current]", "")
		newer := old.Find("nav[aria-label=Version] a:contains('2.0.0')").AttrOr("href", "")
		s.Get(newer).Says("h1", "2.0.0").Says("nav[aria-label=Version] [aria-current]", "2.0.0")
		// The sidebar stays with the version.
		if n := old.Find("nav[aria-label=Project] a[href='" + newer + "']").Length(); n != 0 {
			t.Errorf("%s: the sidebar leads away from the version", page)
		}
	}
}
