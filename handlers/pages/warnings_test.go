package pages_test

import (
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

func TestConfigure_warnings(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewOwner(t, db)
	s.Submit("/projects/new", "target", "http://127.0.0.1:9", "name", "open")
	s.Get("/projects/open").Shows(200, "open").Says("[data-warning]", "with or without a key").
		Says("[data-warning] a[href$='/access']", "Change access")
	s.Submit("/projects/new", "target", "http://127.0.0.1:9", "name", "closed", "require_keys", "true")
	s.Get("/projects/closed").Shows(200, "closed").Lacks("[data-warning]")

	tab := "/projects/closed/login"
	tenant := s.Get(tab).Shows(200, "Login").Find("select[name=tenant] option").AttrOr("value", "")
	s.Post(tab, "tenant", tenant, "name", "web", "redirect_uris", "")
	s.Get(tab).Says("[data-warning]", "no redirect URI").
		Says("[data-warning] a[href$='#settings']", "Add a redirect URI").
		Says("[data-warning] a[href$='#providers']", "Set up a provider")
	s.Get("/projects/closed").Says("[data-warning]", "To accept them, allow JWT. Change access")
}
