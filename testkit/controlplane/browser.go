package controlplane

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
	"postern/handlers/web"
	"postern/models"
	"postern/views/ui"
)

// Browser is a browser without scripts. It keeps cookies and follows redirects only when
// told to.
type Browser struct {
	T      *testing.T
	Server *handlers.Server
	URL    string
	Client *http.Client
	header http.Header // sent with every request
}

// NewBrowser starts a control plane on db, after it applied changes to its server, and
// returns a browser that is not signed in.
func NewBrowser(t *testing.T, db *models.DB, changes ...func(*handlers.Server)) *Browser {
	t.Helper()
	server := NewServer(t, db)
	for _, change := range changes {
		change(server)
	}
	listener := httptest.NewServer(server.Handler())
	t.Cleanup(listener.Close)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := listener.Client()
	client.Jar = jar
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Browser{T: t, Server: server, URL: listener.URL, Client: client, header: http.Header{
		"Accept":         {"text/html,application/xhtml+xml,*/*;q=0.8"},
		"Sec-Fetch-Site": {"same-origin"},
	}}
}

// ClearCookies turns it into a browser that has not been here before.
func (s *Browser) ClearCookies() {
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.T.Fatal(err)
	}
	s.Client.Jar = jar
}

// Password is the password of every account that this package creates.
const Password = "four unrelated words"

// NewOwner is NewBrowser, signed in as the first account, ana@example.com.
func NewOwner(t *testing.T, db *models.DB, changes ...func(*handlers.Server)) *Browser {
	t.Helper()
	s := NewBrowser(t, db, changes...)
	code, err := s.Server.Accounts.FirstLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.Post("/welcome/"+code, "email", "ana@example.com", "name", "Ana", "password", Password).LeadsTo("/projects")
	return s
}

// Page is an answer to a Browser, with assertions that fail the test.
type Page struct {
	*goquery.Document
	t       *testing.T
	Request string
	Status  int
	Header  http.Header
	Raw     string
}

// Get requests a page. header has names and values in turn.
func (s *Browser) Get(path string, header ...string) *Page {
	s.T.Helper()
	return s.Do(http.MethodGet, path, "", header)
}

// Post sends a form of names and values in turn, with a valid nonce unless it has one.
func (s *Browser) Post(path string, form ...string) *Page {
	s.T.Helper()
	values := url.Values{}
	for i := 0; i < len(form); i += 2 {
		values.Add(form[i], form[i+1])
	}
	if !values.Has(ui.NonceField) && !strings.HasPrefix(path, "/oauth/") { // whose forms have none
		values.Set(ui.NonceField, web.FormNonce(s.Session(), path, rand.Text()))
	}
	return s.Do(http.MethodPost, path, values.Encode(), nil)
}

// Session returns the secret in the session cookie, or "" if the browser is signed out.
func (s *Browser) Session() string {
	at, err := url.Parse(s.URL)
	if err != nil {
		s.T.Fatal(err)
	}
	for _, c := range s.Client.Jar.Cookies(at) {
		if c.Name == policy.ControlCookie {
			return c.Value
		}
	}
	return ""
}

// Nonce returns the nonce of the form that posts to action.
func (p *Page) Nonce(action string) string {
	p.t.Helper()
	return p.Value("form[action='" + action + "'] input[name=" + ui.NonceField + "]")
}

// Submit posts a form and returns the page that it redirects to.
func (s *Browser) Submit(path string, form ...string) *Page {
	s.T.Helper()
	return s.FollowRedirect(s.Post(path, form...))
}

// FollowRedirect returns the page that p redirects to.
func (s *Browser) FollowRedirect(p *Page) *Page {
	s.T.Helper()
	if p.Status != http.StatusSeeOther {
		s.T.Fatalf("%s: %d, want a redirect\n%s", p.Request, p.Status, Clean(p.Find("main").Text()))
	}
	return s.Get(p.Header.Get("Location"))
}

// Do sends a request as a browser that navigates within the dashboard. header replaces
// what it sends.
func (s *Browser) Do(method, path, body string, header []string) *Page {
	s.T.Helper()
	r, err := http.NewRequestWithContext(s.T.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		s.T.Fatal(err)
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
	response, err := s.Client.Do(r)
	if err != nil {
		s.T.Fatalf("%s %s: %v", method, path, err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		s.T.Fatalf("%s %s: %v", method, path, err)
	}
	document, err := goquery.NewDocumentFromReader(bytes.NewReader(raw))
	if err != nil {
		s.T.Fatalf("%s %s: %v", method, path, err)
	}
	return &Page{
		Document: document,
		t:        s.T,
		Request:  method + " " + path,
		Status:   response.StatusCode,
		Header:   response.Header,
		Raw:      string(raw),
	}
}

// Shows asserts the status and the heading.
func (p *Page) Shows(status int, heading string) *Page {
	p.t.Helper()
	if got := Clean(p.Find("h1").Text()); p.Status != status || got != heading {
		p.t.Fatalf("%s: %d %q, want %d %q\n%s", p.Request, p.Status, got, status, heading, Clean(p.Find("main").Text()))
	}
	return p
}

// LeadsTo asserts a redirect (303) to path.
func (p *Page) LeadsTo(path string) {
	p.t.Helper()
	if got := p.Header.Get("Location"); p.Status != http.StatusSeeOther || got != path {
		p.t.Fatalf("%s: %d to %q, want 303 to %q\n%s", p.Request, p.Status, got, path, Clean(p.Find("main").Text()))
	}
}

// Says asserts that the text of the elements contains text.
func (p *Page) Says(selector, text string) *Page {
	p.t.Helper()
	if got := Clean(p.Find(selector).Text()); !strings.Contains(got, text) {
		p.t.Fatalf("%s: %s says %q, want %q in it", p.Request, selector, got, text)
	}
	return p
}

// Holds asserts the value of the input with the name.
func (p *Page) Holds(name, value string) *Page {
	p.t.Helper()
	if got := p.Value("input[name='" + name + "']"); got != value {
		p.t.Fatalf("%s: field %s holds %q, want %q", p.Request, name, got, value)
	}
	return p
}

// Lacks asserts that no element matches.
func (p *Page) Lacks(selector string) *Page {
	p.t.Helper()
	if found := p.Find(selector); found.Length() > 0 {
		p.t.Fatalf("%s: has %s: %s", p.Request, selector, Clean(found.Text()))
	}
	return p
}

// Value returns the value of the first input that matches.
func (p *Page) Value(selector string) string {
	p.t.Helper()
	input := p.Find(selector)
	if input.Length() == 0 {
		p.t.Fatalf("%s: no %s", p.Request, selector)
	}
	return input.First().AttrOr("value", "")
}

// Action returns the action of the form with the field.
func (p *Page) Action(field string) string {
	p.t.Helper()
	action := p.Find("form:has([name='"+field+"'])").First().AttrOr("action", "")
	if action == "" {
		p.t.Fatalf("%s: no form with a field %s", p.Request, field)
	}
	return action
}

// Clean returns text with every run of spaces and line ends as one space.
func Clean(text string) string { return strings.Join(strings.Fields(text), " ") }
