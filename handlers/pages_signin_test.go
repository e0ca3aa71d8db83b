package handlers_test

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"postern/handlers"
	"postern/models"
	"postern/testkit/state"
	"postern/views/ui"
)

func TestFirstAccountThenPassword(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newSite(t, db)
		code, err := s.server.Accounts.FirstLink(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		link := "/welcome/" + code
		s.get(link).is(200, "Welcome to Postern")
		s.post(link, "email", "ana@", "name", "Ana", "password", "short").is(422, "Welcome to Postern").
			holds("email", "ana@").holds("name", "Ana").holds("password", "").
			says("#email-error", "not an e-mail address").says("#password-error", "at least 12 characters")
		s.post(link, "email", "Ana@Example.com", "name", "Ana", "password", password).leadsTo("/projects")
		s.get("/projects").is(200, "Projects").says("#account-menu", "ana@example.com").says("main", "No projects yet")
		s.get(link).is(410, "This link has been used")
		s.post(link, "email", "eve@example.com", "name", "Eve", "password", password).is(410, "This link has been used")

		s.post("/signout").leadsTo("/signin")
		s.get("/projects").leadsTo("/signin")
		s.get("/projects/new?a=b").leadsTo("/signin?next=%2Fprojects%2Fnew%3Fa%3Db")
		s.get("/signin?next=/projects/new").is(200, "Sign in").holds("next", "/projects/new")
		wrong := s.post("/signin", "email", "ana@example.com", "password", "not the words", "next", "/projects/new").
			is(401, "Sign in").
			says("[role=alert]", "E-mail address or password is wrong.").
			holds("email", "ana@example.com").
			holds("password", "").
			holds("next", "/projects/new")
		if wrong.header.Get("WWW-Authenticate") == "" {
			t.Error("a 401 without a challenge (RFC 9110, 15.5.2)")
		}
		s.post("/signin", "email", "ana@example.com", "password", password, "next", "/projects/new").
			leadsTo("/projects/new")
		s.get("/signin").leadsTo("/projects")
		s.get("/").leadsTo("/projects")
	})
}

func TestUnknownLinkOfAnEmptyInstallation(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		newSite(t, db).get("/welcome/nothing").is(410, "This link does not work").says("main", "postern serve")
	})
}

func TestSignInIsThrottled(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newSite(t, db)
		for range 10 {
			s.post("/signin", "email", "ana@example.com", "password", "guess").is(401, "Sign in")
		}
		refused := s.post("/signin", "email", "ana@example.com", "password", "guess").
			is(429, "Sign in").
			says("[role=alert]", "Too many attempts")
		if after := refused.header.Get("Retry-After"); after != "900" {
			t.Errorf("Retry-After is %q, want a quarter of an hour", after)
		}
	})
}

// A browser that has signed in before passes where others have used up the attempts.
func TestSignIn_DeviceCookiePasses(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newOwner(t, db)
		own := s.client.Jar
		s.post("/signout").leadsTo("/signin")
		s.forget()
		for range 10 {
			s.post("/signin", "email", "ana@example.com", "password", "guess").is(401, "Sign in")
		}
		s.post("/signin", "email", "ana@example.com", "password", password).is(429, "Sign in")
		s.client.Jar = own
		s.post("/signin", "email", "ana@example.com", "password", password).leadsTo("/projects")
	})
}

// A session ends on the server, not only in the browser that forgets it.
func TestSessionsEndOnTheServer(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newOwner(t, db)
		first := sessionOf(t, s)
		s.post("/signin", "email", "ana@example.com", "password", password).leadsTo("/projects")
		second := sessionOf(t, s)
		if first.Value == second.Value {
			t.Error("signing in again kept the session")
		}
		s.client.Jar = nil
		use := func(c *http.Cookie) *seen { return s.get("/projects", "Cookie", c.Name+"="+c.Value) }
		dead := use(first)
		dead.leadsTo("/signin")
		if cookie := dead.header.Get("Set-Cookie"); !strings.Contains(cookie, "Max-Age=0") || !strings.Contains(cookie, "HttpOnly") {
			t.Errorf("the cookie of a dead session is not dropped: %q", cookie)
		}
		use(second).is(200, "Projects")
		s.ask(http.MethodPost, "/signout", "", []string{"Cookie", second.Name + "=" + second.Value}).leadsTo("/signin")
		use(second).leadsTo("/signin")
	})
}

func sessionOf(t *testing.T, s *site) *http.Cookie {
	t.Helper()
	at, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range s.client.Jar.Cookies(at) {
		if c.Name == "postern" {
			return c
		}
	}
	t.Fatal("no session cookie")
	return nil
}

func TestCookiesOverHTTPSAreBoundToTheHost(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newSite(t, db)
		code, err := s.server.Accounts.FirstLink(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		s.server.Config.PublicURL = "https://postern.example"
		got := s.post("/welcome/"+code, "email", "ana@example.com", "name", "Ana", "password", password)
		got.leadsTo("/projects")
		var names []string
		for _, line := range got.header.Values("Set-Cookie") {
			cookie, err := http.ParseSetCookie(line)
			if err != nil {
				t.Fatalf("Set-Cookie: %v", err)
			}
			names = append(names, cookie.Name)
			bound := strings.HasPrefix(cookie.Name, "__Host-") && cookie.Secure && cookie.Path == "/" && cookie.Domain == ""
			if !bound || !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode {
				t.Errorf("Set-Cookie: %s; want a __Host- cookie with Path=/, Secure, HttpOnly, SameSite=Lax", cookie)
			}
		}
		for _, want := range []string{"__Host-postern", "__Host-postern-device"} {
			if !slices.Contains(names, want) {
				t.Errorf("cookies %q lack %s", names, want)
			}
		}
	})
}

// elsewhere are addresses that a browser takes out of this site.
var elsewhere = []string{
	"https://evil.example/", "//evil.example", "/\\evil.example", "\\\\evil.example", "/\t/evil.example", "/\n/evil.example", " //evil.example",
	"javascript:alert(1)", "evil.example", "///evil.example", "/\\/evil.example", "http:evil.example",
}

func TestSignInLeadsOnlyToOwnPages(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newOwner(t, db)
		for _, to := range elsewhere {
			s.get("/signin?next=" + url.QueryEscape(to)).leadsTo("/projects")
			s.post("/theme", "theme", "dark", "return_to", to).leadsTo("/")
		}
		s.post("/signin", "email", "ana@example.com", "password", password, "next", "//evil.example").
			leadsTo("/projects")
		s.post("/signout").leadsTo("/signin")
		for _, to := range elsewhere {
			s.get("/signin?next="+url.QueryEscape(to)).is(200, "Sign in").lacks("input[name=next]")
		}
	})
}

func TestThemeIsRemembered(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newSite(t, db)
		s.get("/signin").lacks("html[data-theme]")
		s.post("/theme", "theme", "dark", "return_to", "/signin").leadsTo("/signin")
		if got := s.get("/signin").Find("html").AttrOr("data-theme", ""); got != "dark" {
			t.Errorf("theme %q after choosing dark", got)
		}
		s.post("/theme", "theme", "system", "return_to", "/signin").leadsTo("/signin")
		s.get("/signin").lacks("html[data-theme]")
	})
}

func TestWritesFromOtherSitesAreRefused(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newOwner(t, db)
		form := url.Values{
			"target":      {"http://127.0.0.1:9"},
			"name":        {"planted"},
			ui.NonceField: {handlers.FormNonce(s.session(), "/projects/new", rand.Text())},
		}.Encode()
		for name, header := range map[string][]string{
			"cross-site":     {"Sec-Fetch-Site", "cross-site"},
			"same-site":      {"Sec-Fetch-Site", "same-site"},
			"foreign origin": {"Sec-Fetch-Site", "", "Origin", "https://evil.example"},
		} {
			if got := s.ask(http.MethodPost, "/projects/new", form, header).
				is(403, "You may not do this"); !strings.Contains(got.raw, "another site") {
				t.Errorf("%s: the page does not say why", name)
			}
		}
		s.get("/projects").is(200, "Projects").says("main", "No projects yet")
		s.follow(s.ask(http.MethodPost, "/projects/new", form, []string{"Sec-Fetch-Site", "", "Origin", s.url})).
			is(200, "planted is up")
	})
}

// A fresh installation says where its first link is.
func TestSignIn_withoutAccounts(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newSite(t, db)
		s.get("/signin").is(200, "Sign in").says("main", "postern serve").says("main", "postern welcome-link")
		code, err := s.server.Accounts.FirstLink(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		s.post("/welcome/"+code, "email", "ana@example.com", "name", "Ana", "password", password).leadsTo("/projects")
		s.forget()
		if page := s.get("/signin").is(200, "Sign in"); strings.Contains(page.raw, "welcome-link") {
			t.Error("an installation with an account speaks of the first link")
		}
	})
}

// Who changes the password because it may be known can end the access tokens too.
func TestSavePassword_revokeTokens(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newOwner(t, db)
		s.get("/account").is(200, "Your account").says("form", "Revoke my access tokens too")
		token := clean(s.makes("/settings/tokens", "name", "ci", "scopes", "read").Find("#new-token").Text())
		works := func() int { return call(t, s.server.Handler(), "GET", "/api/v1/whoami", token, "").status }
		s.post("/account/password", "old_password", password, "password", "another four words").leadsTo("/account")
		if got := works(); got != 200 {
			t.Errorf("the token answers %d though nothing was asked of it", got)
		}
		s.post(
			"/account/password",
			"old_password", "another four words",
			"password", password,
			"revoke_tokens", "true",
		).
			leadsTo("/account")
		if got := works(); got != 401 {
			t.Errorf("the token answers %d after it was revoked", got)
		}
	})
}
