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
		p.t.Fatalf("%s: %d %v\n%s", p.Request, p.Status, err, Clean(p.Find("main").Text()))
	}
	return to.Path
}

// CreateAppClient creates an app client of the project's own tenant.
func (s *Browser) CreateAppClient(tab string) string {
	s.T.Helper()
	tenant := s.Get(tab).Find("select[name=tenant] option").AttrOr("value", "")
	return s.Post(tab, "tenant", tenant, "name", "web", "redirect_uris", "https://app.example.com/cb").Location()
}

// Revision is the revision of the form that has the named field.
func (p *Page) Revision(field string) string {
	p.t.Helper()
	return p.Value("form:has([name='" + field + "']) [name=revision]")
}

// WithT is the site for a part of the test.
func (s *Browser) WithT(t *testing.T) *Browser {
	out := *s
	out.T = t
	return &out
}

// NewOwnerWithShop is a signed-in owner's site with the project shop, which asks for
// keys; key is its first one.
func NewOwnerWithShop(t *testing.T, db *models.DB) (s *Browser, key string) {
	t.Helper()
	s = NewOwner(t, db)
	made := s.Submit("/projects/new", "target", "http://127.0.0.1:9/base", "name", "shop", "require_keys", "true").
		Shows(200, "shop is up")
	return s, Clean(made.Find("section[aria-labelledby=keys] code").Text())
}
