package controlplane

import (
	"net/url"
	"testing"

	"postern/models"
)

// Location is where a form led to, without the part of the page.
func (p *Page) Location() string {
	p.t.Helper()
	to, err := url.Parse(p.Header.Get("Location"))
	if err != nil || p.Status != 303 {
		p.t.Fatalf("%s: %d %v\n%s", p.What, p.Status, err, Clean(p.Find("main").Text()))
	}
	return to.Path
}

// MakeWeb makes an app client of the project's own tenant.
func (s *Browser) MakeWeb(tab string) string {
	s.T.Helper()
	tenant := s.Get(tab).Find("select[name=tenant] option").AttrOr("value", "")
	return s.Post(tab, "tenant", tenant, "name", "web", "redirect_uris", "https://app.example.com/cb").Location()
}

// RevisionAt is the revision of the form that has the named field.
func (p *Page) RevisionAt(field string) string {
	p.t.Helper()
	return p.Value("form:has([name='" + field + "']) [name=revision]")
}

// In is the site for a part of the test.
func (s *Browser) In(t *testing.T) *Browser {
	out := *s
	out.T = t
	return &out
}

// WithShop is a signed-in owner's site with the project shop, which asks for
// keys; key is its first one.
func WithShop(t *testing.T, db *models.DB) (s *Browser, key string) {
	t.Helper()
	s = NewOwner(t, db)
	made := s.Submit("/projects/new", "target", "http://127.0.0.1:9/base", "name", "shop", "require_keys", "true").
		Shows(200, "shop is up")
	return s, Clean(made.Find("section[aria-labelledby=keys] code").Text())
}
