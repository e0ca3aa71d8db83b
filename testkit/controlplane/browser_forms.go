package controlplane

import (
	"net/url"
	"testing"

	"postern/models"
)

// Location returns the path that a form redirected to, without the fragment.
func (p *Page) Location() string {
	p.t.Helper()
	to, err := url.Parse(p.Header.Get("Location"))
	if err != nil || p.Status != 303 {
		p.t.Fatalf("%s: %d %v\n%s", p.Request, p.Status, err, Clean(p.Find("main").Text()))
	}
	return to.Path
}

// CreateAppClient creates the app client web in the project's default tenant, on the
// project's page tab, and returns the path of its page.
func (s *Browser) CreateAppClient(tab string) string {
	s.T.Helper()
	tenant := s.Get(tab).Find("select[name=tenant] option").AttrOr("value", "")
	return s.Post(tab, "tenant", tenant, "name", "web", "redirect_uris", "https://app.example.com/cb").Location()
}

// Revision returns the revision in the form with the field.
func (p *Page) Revision(field string) string {
	p.t.Helper()
	return p.Value("form:has([name='" + field + "']) [name=revision]")
}

// WithT returns the browser for a subtest.
func (s *Browser) WithT(t *testing.T) *Browser {
	out := *s
	out.T = t
	return &out
}

// NewOwnerWithShop is NewOwner with the project shop, which requires keys. It returns the
// first of them too.
func NewOwnerWithShop(t *testing.T, db *models.DB) (s *Browser, key string) {
	t.Helper()
	s = NewOwner(t, db)
	made := s.Submit("/projects/new", "target", "http://127.0.0.1:9/base", "name", "shop", "require_keys", "true").
		Shows(200, "shop is ready")
	return s, Clean(made.Find("section[aria-labelledby=keys] code").Text())
}
