package handlers_test

import (
	"bytes"
	"crypto/rand"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"postern/core/policy"
	"postern/handlers"
	"postern/models"
	"postern/views/ui"
)

// site is a person at a browser without script, one redirect at a time.
type site struct {
	t      *testing.T
	server *handlers.Server
	url    string
	client *http.Client
	header http.Header // sent with every request
}

func newSite(t *testing.T, db *models.DB) *site {
	t.Helper()
	server := newServer(t, db)
	listener := httptest.NewServer(server.Handler())
	t.Cleanup(listener.Close)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := listener.Client()
	client.Jar = jar
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &site{t: t, server: server, url: listener.URL, client: client, header: http.Header{
		"Accept": {"text/html,application/xhtml+xml,*/*;q=0.8"}, "Sec-Fetch-Site": {"same-origin"},
	}}
}

// forget is another browser from here on.
func (s *site) forget() {
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	s.client.Jar = jar
}

const password = "four unrelated words"

// newOwner is a site where the first account is signed in.
func newOwner(t *testing.T, db *models.DB) *site {
	t.Helper()
	s := newSite(t, db)
	code, err := s.server.Accounts.FirstLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.post("/welcome/"+code, "email", "ana@example.com", "name", "Ana", "password", password).leadsTo("/projects")
	return s
}

// seen is what the browser got.
type seen struct {
	*goquery.Document
	t      *testing.T
	what   string
	status int
	header http.Header
	raw    string
}

func (s *site) get(path string, header ...string) *seen {
	s.t.Helper()
	return s.ask(http.MethodGet, path, "", header)
}

// post sends a form of name, value, name, value… as of a page that is just loaded.
func (s *site) post(path string, form ...string) *seen {
	s.t.Helper()
	values := url.Values{}
	for i := 0; i < len(form); i += 2 {
		values.Add(form[i], form[i+1])
	}
	if !values.Has(ui.NonceField) {
		values.Set(ui.NonceField, handlers.FormNonce(s.session(), path, rand.Text()))
	}
	return s.ask(http.MethodPost, path, values.Encode(), nil)
}

// session is the secret in the browser's cookie, "" when signed out.
func (s *site) session() string {
	at, err := url.Parse(s.url)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, c := range s.client.Jar.Cookies(at) {
		if c.Name == policy.ControlCookie {
			return c.Value
		}
	}
	return ""
}

// nonce is that of the form on a page that posts to action.
func (p *seen) nonce(action string) string {
	p.t.Helper()
	return p.value("form[action='" + action + "'] input[name=" + ui.NonceField + "]")
}

// makes posts a form and returns the page that it leads to.
func (s *site) makes(path string, form ...string) *seen {
	s.t.Helper()
	return s.follow(s.post(path, form...))
}

func (s *site) follow(p *seen) *seen {
	s.t.Helper()
	if p.status != http.StatusSeeOther {
		s.t.Fatalf("%s: %d, want a redirect\n%s", p.what, p.status, clean(p.Find("main").Text()))
	}
	return s.get(p.header.Get("Location"))
}

func (s *site) ask(method, path, body string, header []string) *seen {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for name, values := range s.header {
		r.Header[name] = values
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := s.client.Do(r)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	document, err := goquery.NewDocumentFromReader(bytes.NewReader(raw))
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	return &seen{Document: document, t: s.t, what: method + " " + path, status: response.StatusCode, header: response.Header, raw: string(raw)}
}

// is asserts the status and the heading of a page.
func (p *seen) is(status int, heading string) *seen {
	p.t.Helper()
	if got := clean(p.Find("h1").Text()); p.status != status || got != heading {
		p.t.Fatalf("%s: %d %q, want %d %q\n%s", p.what, p.status, got, status, heading, clean(p.Find("main").Text()))
	}
	return p
}

// leadsTo asserts a redirect that the browser follows with GET.
func (p *seen) leadsTo(path string) {
	p.t.Helper()
	if got := p.header.Get("Location"); p.status != http.StatusSeeOther || got != path {
		p.t.Fatalf("%s: %d to %q, want 303 to %q\n%s", p.what, p.status, got, path, clean(p.Find("main").Text()))
	}
}

// says asserts that an element's text contains text.
func (p *seen) says(selector, text string) *seen {
	p.t.Helper()
	if got := clean(p.Find(selector).Text()); !strings.Contains(got, text) {
		p.t.Fatalf("%s: %s says %q, want %q in it", p.what, selector, got, text)
	}
	return p
}

// holds asserts the value of an input.
func (p *seen) holds(name, value string) *seen {
	p.t.Helper()
	if got := p.value("input[name='" + name + "']"); got != value {
		p.t.Fatalf("%s: field %s holds %q, want %q", p.what, name, got, value)
	}
	return p
}

func (p *seen) lacks(selector string) *seen {
	p.t.Helper()
	if found := p.Find(selector); found.Length() > 0 {
		p.t.Fatalf("%s: has %s: %s", p.what, selector, clean(found.Text()))
	}
	return p
}

func (p *seen) value(selector string) string {
	p.t.Helper()
	input := p.Find(selector)
	if input.Length() == 0 {
		p.t.Fatalf("%s: no %s", p.what, selector)
	}
	return input.First().AttrOr("value", "")
}

// action is the action of the form that has the field.
func (p *seen) action(field string) string {
	p.t.Helper()
	action := p.Find("form:has([name='"+field+"'])").First().AttrOr("action", "")
	if action == "" {
		p.t.Fatalf("%s: no form with a field %s", p.what, field)
	}
	return action
}

func clean(text string) string { return strings.Join(strings.Fields(text), " ") }
