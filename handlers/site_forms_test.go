package handlers_test

import (
	"net/url"
	"testing"

	"postern/models"
)

// location is where a form led to, without the part of the page.
func (p *seen) location() string {
	p.t.Helper()
	to, err := url.Parse(p.header.Get("Location"))
	if err != nil || p.status != 303 {
		p.t.Fatalf("%s: %d %v\n%s", p.what, p.status, err, clean(p.Find("main").Text()))
	}
	return to.Path
}

// makeWeb makes an app client of the project's own tenant.
func (s *site) makeWeb(tab string) string {
	s.t.Helper()
	tenant := s.get(tab).Find("select[name=tenant] option").AttrOr("value", "")
	return s.post(tab, "tenant", tenant, "name", "web", "redirect_uris", "https://app.example.com/cb").location()
}

// revisionAt is the revision of the form that has the named field.
func (p *seen) revisionAt(field string) string {
	p.t.Helper()
	return p.value("form:has([name='" + field + "']) [name=revision]")
}

// in is the site for a part of the test.
func (s *site) in(t *testing.T) *site {
	out := *s
	out.t = t
	return &out
}

// withShop is a signed-in owner's site with the project shop, which asks for
// keys; key is its first one.
func withShop(t *testing.T, db *models.DB) (s *site, key string) {
	t.Helper()
	s = newOwner(t, db)
	made := s.makes("/projects/new", "target", "http://127.0.0.1:9/base", "name", "shop", "require_keys", "true").
		is(200, "shop is up")
	return s, clean(made.Find("section[aria-labelledby=keys] code").Text())
}
