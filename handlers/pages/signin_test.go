package pages_test

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"postern/handlers/web"
	"postern/testkit/controlplane"
	"postern/testkit/state"
	"postern/views/ui"
)

func TestWelcome_firstAccount(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewBrowser(t, db)
	code, err := s.Server.Accounts.FirstLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	link := "/welcome/" + code
	s.Get(link).Shows(200, "Welcome to Postern")
	s.Post(link, "email", "ana@", "name", "Ana", "password", "short").Shows(422, "Welcome to Postern").
		Holds("email", "ana@").Holds("name", "Ana").Holds("password", "").
		Says("#email-error", "Enter a valid email address").Says("#password-error", "at least 12 characters")
	s.Post(link, "email", "Ana@Example.com", "name", "Ana", "password", controlplane.Password).LeadsTo("/projects")
	s.Get("/projects").
		Shows(200, "Projects").
		Says("#account-menu", "ana@example.com").
		Says("main", "No projects yet")
	s.Get(link).Shows(410, "This link has already been used")
	s.Post(link, "email", "eve@example.com", "name", "Eve", "password", controlplane.Password).
		Shows(410, "This link has already been used")

	s.Post("/signout").LeadsTo("/signin")
	s.Get("/projects").LeadsTo("/signin")
	s.Get("/projects/new?a=b").LeadsTo("/signin?next=%2Fprojects%2Fnew%3Fa%3Db")
	s.Get("/signin?next=/projects/new").Shows(200, "Sign in").Holds("next", "/projects/new")
	wrong := s.Post("/signin", "email", "ana@example.com", "password", "not the words", "next", "/projects/new").
		Shows(401, "Sign in").
		Says("[role=alert]", "The email address or password is wrong.").
		Holds("email", "ana@example.com").
		Holds("password", "").
		Holds("next", "/projects/new")
	if wrong.Header.Get("WWW-Authenticate") == "" {
		t.Error("a 401 without a challenge (RFC 9110, 15.5.2)")
	}
	s.Post("/signin", "email", "ana@example.com", "password", controlplane.Password, "next", "/projects/new").
		LeadsTo("/projects/new")
	s.Get("/signin").LeadsTo("/projects")
	s.Get("/").LeadsTo("/projects")
}

func TestWelcome_unknownLink(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	controlplane.NewBrowser(t, db).
		Get("/welcome/nothing").
		Shows(410, "This link doesn't work").
		Says("main", "postern welcome-link")
}

func TestSignIn_throttled(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewBrowser(t, db)
	for range 10 {
		s.Post("/signin", "email", "ana@example.com", "password", "guess").Shows(401, "Sign in")
	}
	refused := s.Post("/signin", "email", "ana@example.com", "password", "guess").
		Shows(429, "Sign in").
		Says("[role=alert]", "Too many attempts")
	if after := refused.Header.Get("Retry-After"); after != "900" {
		t.Errorf("Retry-After is %q, want a quarter of an hour", after)
	}
}

// A browser that has signed in before passes where others have used up the attempts.
func TestSignIn_deviceCookie(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewOwner(t, db)
	own := s.Client.Jar
	s.Post("/signout").LeadsTo("/signin")
	s.ClearCookies()
	for range 10 {
		s.Post("/signin", "email", "ana@example.com", "password", "guess").Shows(401, "Sign in")
	}
	s.Post("/signin", "email", "ana@example.com", "password", controlplane.Password).Shows(429, "Sign in")
	s.Client.Jar = own
	s.Post("/signin", "email", "ana@example.com", "password", controlplane.Password).LeadsTo("/projects")
}

// A session ends on the server, not only in the browser that forgets it.
func TestSession_signOut(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewOwner(t, db)
	first := sessionOf(t, s)
	s.Post("/signin", "email", "ana@example.com", "password", controlplane.Password).LeadsTo("/projects")
	second := sessionOf(t, s)
	if first.Value == second.Value {
		t.Error("signing in again kept the session")
	}
	s.Client.Jar = nil
	use := func(c *http.Cookie) *controlplane.Page { return s.Get("/projects", "Cookie", c.Name+"="+c.Value) }
	dead := use(first)
	dead.LeadsTo("/signin")
	if cookie := dead.Header.Get("Set-Cookie"); !strings.Contains(cookie, "Max-Age=0") ||
		!strings.Contains(cookie, "HttpOnly") {
		t.Errorf("the cookie of a dead session is not dropped: %q", cookie)
	}
	use(second).Shows(200, "Projects")
	s.Do(http.MethodPost, "/signout", "", []string{"Cookie", second.Name + "=" + second.Value}).LeadsTo("/signin")
	use(second).LeadsTo("/signin")
}

func sessionOf(t *testing.T, s *controlplane.Browser) *http.Cookie {
	t.Helper()
	at, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range s.Client.Jar.Cookies(at) {
		if c.Name == "postern" {
			return c
		}
	}
	t.Fatal("no session cookie")
	return nil
}

func TestSignIn_secureCookies(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewBrowser(t, db)
	code, err := s.Server.Accounts.FirstLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.Server.Config.PublicURL = "https://postern.example"
	got := s.Post("/welcome/"+code, "email", "ana@example.com", "name", "Ana", "password", controlplane.Password)
	got.LeadsTo("/projects")
	var names []string
	for _, line := range got.Header.Values("Set-Cookie") {
		cookie, err := http.ParseSetCookie(line)
		if err != nil {
			t.Fatalf("Set-Cookie: %v", err)
		}
		names = append(names, cookie.Name)
		bound := strings.HasPrefix(cookie.Name, "__Host-") && cookie.Secure && cookie.Path == "/" &&
			cookie.Domain == ""
		if !bound || !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode {
			t.Errorf("Set-Cookie: %s; want a __Host- cookie with Path=/, Secure, HttpOnly, SameSite=Lax", cookie)
		}
	}
	for _, want := range []string{"__Host-postern", "__Host-postern-device"} {
		if !slices.Contains(names, want) {
			t.Errorf("cookies %q lack %s", names, want)
		}
	}
}

// foreignTargets are redirect targets that a browser resolves to another site or scheme.
var foreignTargets = []string{
	"https://evil.example/",
	"//evil.example",
	"/\\evil.example",
	"\\\\evil.example",
	"/\t/evil.example",
	"/\n/evil.example",
	" //evil.example",
	"javascript:alert(1)",
	"evil.example",
	"///evil.example",
	"/\\/evil.example",
	"http:evil.example",
}

func TestSignIn_returnAddress(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewOwner(t, db)
	for _, to := range foreignTargets {
		s.Get("/signin?next=" + url.QueryEscape(to)).LeadsTo("/projects")
		s.Post("/theme", "theme", "dark", "return_to", to).LeadsTo("/")
	}
	s.Post("/signin", "email", "ana@example.com", "password", controlplane.Password, "next", "//evil.example").
		LeadsTo("/projects")
	s.Post("/signout").LeadsTo("/signin")
	for _, to := range foreignTargets {
		s.Get("/signin?next="+url.QueryEscape(to)).Shows(200, "Sign in").Lacks("input[name=next]")
	}
}

func TestTheme_remembered(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewBrowser(t, db)
	s.Get("/signin").Lacks("html[data-theme]")
	s.Post("/theme", "theme", "dark", "return_to", "/signin").LeadsTo("/signin")
	if got := s.Get("/signin").Find("html").AttrOr("data-theme", ""); got != "dark" {
		t.Errorf("theme %q after choosing dark", got)
	}
	s.Post("/theme", "theme", "system", "return_to", "/signin").LeadsTo("/signin")
	s.Get("/signin").Lacks("html[data-theme]")
}

func TestForms_otherSite(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewOwner(t, db)
	form := url.Values{
		"target":      {"http://127.0.0.1:9"},
		"name":        {"planted"},
		ui.NonceField: {web.FormNonce(s.Session(), "/projects/new", rand.Text())},
	}.Encode()
	for name, header := range map[string][]string{
		"cross-site":     {"Sec-Fetch-Site", "cross-site"},
		"same-site":      {"Sec-Fetch-Site", "same-site"},
		"foreign origin": {"Sec-Fetch-Site", "", "Origin", "https://evil.example"},
	} {
		if got := s.Do(http.MethodPost, "/projects/new", form, header).
			Shows(403, "You don't have permission"); !strings.Contains(got.Raw, "another site") {
			t.Errorf("%s: the page does not say why", name)
		}
	}
	s.Get("/projects").Shows(200, "Projects").Says("main", "No projects yet")
	s.FollowRedirect(s.Do(http.MethodPost, "/projects/new", form, []string{"Sec-Fetch-Site", "", "Origin", s.URL})).
		Shows(200, "planted is ready")
}

// A fresh installation says where its first link is.
func TestSignIn_withoutAccounts(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewBrowser(t, db)
	s.Get("/signin").Shows(200, "Sign in").Says("main", "postern serve").Says("main", "postern welcome-link")
	code, err := s.Server.Accounts.FirstLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.Post("/welcome/"+code, "email", "ana@example.com", "name", "Ana", "password", controlplane.Password).
		LeadsTo("/projects")
	s.ClearCookies()
	if page := s.Get("/signin").Shows(200, "Sign in"); strings.Contains(page.Raw, "welcome-link") {
		t.Error("an installation with an account speaks of the first link")
	}
}

// A user who changes a password that may be known can also revoke the access tokens.
func TestSavePassword_revokedTokens(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewOwner(t, db)
	s.Get("/account/password").Shows(200, "Your account").Says("form", "Also revoke my access tokens")
	created := s.Submit("/settings/tokens", "name", "ci", "scopes", "read")
	token := controlplane.Clean(created.Find("#new-token").Text())
	works := func() int {
		return controlplane.Call(t, s.Server.Handler(), "GET", "/api/v1/whoami", token, "").Status
	}
	s.Post("/account/password", "old_password", controlplane.Password, "password", "another four words").
		LeadsTo("/account/password")
	if got := works(); got != 200 {
		t.Errorf("the token answers %d though nothing was asked of it", got)
	}
	s.Post(
		"/account/password",
		"old_password", "another four words",
		"password", controlplane.Password,
		"revoke_tokens", "true",
	).
		LeadsTo("/account/password")
	if got := works(); got != 401 {
		t.Errorf("the token answers %d after it was revoked", got)
	}
}
