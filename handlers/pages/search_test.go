package pages_test

import (
	"strings"
	"testing"

	"postern/models"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

func TestSearch(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, plaintext := controlplane.NewOwnerWithShop(t, db)
		made := s.Submit("/projects/shop/keys", "owner", "Billing-100%")
		key := made.Find("#new-key").Text()
		id := strings.TrimSuffix(strings.TrimPrefix(made.Request, "GET /projects/shop/keys/"), "/secret")
		tenant := s.Get("/projects/shop/tenants").Find("tbody a[href^='/tenants/']").AttrOr("href", "")
		s.Post("/tenants", "team", s.Get("/tenants").Value("[name=team]"), "name", "acme", "display_name", "Acme Ltd")
		s.Post(tenant+"/users", "email", "bob@example.com")
		for _, tt := range []struct{ name, text, section, want string }{
			{"project by name", "sho", "projects", "shop"},
			{"key by owner", "Billing-", "keys", "Billing-100%"},
			{"key by owner with a wildcard", "Billing-100%", "keys", "Billing-100%"},
			{"key by id", id, "keys", "Billing-100%"},
			{"whole key", key, "keys", "Billing-100%"},
			{"another whole key", plaintext, "keys", "bootstrap"},
			{"user by address", "BOB@", "users", "bob@example.com"},
			{"tenant by display name", "ltd", "tenants", "Acme Ltd"},
			{"page", "webho", "pages", "Webhooks"},
			{"action", "create project", "actions", "Create a project"},
		} {
			t.Run(tt.name, func(*testing.T) {
				s.Post("/search", "q", tt.text).Shows(200, "Search").
					Says("section[aria-labelledby=found-"+tt.section+"]", tt.want)
			})
		}
		s.Post("/search", "q", "nothing at all").Shows(200, "Search").Says("#search-results", "Nothing found")
		s.Post("/search", "q", "illing").Lacks("section[aria-labelledby=found-keys]") // an index serves beginnings only
		s.Post("/search", "q", "%").Lacks("section[aria-labelledby=found-keys]")
		s.Get("/search?q=shop&project=shop").Shows(200, "Search").
			Lacks("section[aria-labelledby=found-projects]"). // a GET searches for nothing
			Says("section[aria-labelledby=found-pages]", "Keys for shop").
			Says("section[aria-labelledby=found-actions]", "Create a key")
		s.Get("/search?project=none").Shows(404, "Page not found")
		s.Get("/shortcuts").Says("main", "Ctrl")
	})
}
