package oidc_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/testkit/idp"
	"postern/testkit/state"
)

// silently sends an authorization request with prompt=none and returns the answer at the
// application.
func (s *app) silently(browser *http.Client, r request, more url.Values) url.Values {
	s.t.Helper()
	query := url.Values{"prompt": {"none"}}
	for _, values := range []url.Values{r.query, more} {
		for name, value := range values {
			query[name] = value
		}
	}
	answer := s.get(browser, s.path("/authorize?"+query.Encode()))
	if answer.to == nil || !strings.HasPrefix(answer.to.String(), callback+"?") {
		s.t.Fatalf("prompt=none answers %d %s", answer.status, answer.Find("main").Text())
	}
	return answer.to.Query()
}

// enter signs the fake's user in with this browser and returns the tokens.
func (s *app) enter(browser *http.Client, fake *idp.Fake, provider, scope string) got {
	s.t.Helper()
	r := s.request(scope)
	out := s.exchange(r, s.agree(browser, fake.Authorize(s.t, s.toProvider(browser, r, provider).String()).String()))
	if out.status != http.StatusOK {
		s.t.Fatalf("the sign-in gives %+v", out)
	}
	return out
}

func TestAuthorize_promptNone(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newLoginApp(t, db, contract.AppClientSettings{})
	fake, provider := s.offerFake()
	fake.Claims = stating(minutesAgo(3))
	browser := s.browser()
	first := s.enter(browser, fake, provider.ID, "openid email offline_access")

	r := s.request("openid offline_access")
	r.query.Set("nonce", "another nonce")
	back := s.silently(browser, r, nil)
	if back.Get("error") != "" || back.Get("code") == "" || back.Get("state") != "the state" {
		t.Fatalf("prompt=none with a session gives %v", back)
	}
	tokens := s.token(url.Values{
		"grant_type":    {"authorization_code"},
		"code":          {back.Get("code")},
		"redirect_uri":  {callback},
		"code_verifier": {r.verifier},
	})
	before, after := claims(t, first.ID), claims(t, tokens.ID)
	for _, name := range []string{"sub", "sid", "auth_time"} {
		if after[name] != before[name] || after[name] == nil {
			t.Errorf("%s is %v, want %v as in the sign-in", name, after[name], before[name])
		}
	}
	if after["nonce"] != "another nonce" {
		t.Errorf("the nonce is %v, want that of the request", after["nonce"])
	}
	if _, there := after["email"]; there || tokens.Scope != "openid offline_access" {
		t.Errorf("the tokens have the scope %q and the claims %v, want those of the request", tokens.Scope, after)
	}
	if refreshed := s.refresh(tokens.Refresh); refreshed.Scope != "openid offline_access" {
		t.Errorf("a refresh gives %+v, want the scopes of the request", refreshed)
	}
}

func TestAuthorize_promptNoneErrors(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newLoginApp(t, db, contract.AppClientSettings{})
		fake, provider := s.offerFake()
		fake.Claims = stating(minutesAgo(0))
		browser, r := s.browser(), s.request("openid")
		check := func(when string, browser *http.Client, more url.Values, want string) {
			t.Helper()
			if back := s.silently(browser, r, more); back.Get("error") != want {
				t.Errorf("%s: %v, want the error %q", when, back, want)
			}
		}
		check("without a session", browser, nil, "login_required")
		first := s.enter(browser, fake, provider.ID, "openid")
		check("with one", browser, nil, "")
		check("in another browser", s.browser(), nil, "login_required")
		check("with more scopes", browser, url.Values{"scope": {"openid email"}}, "consent_required")
		check("with another prompt", browser, url.Values{"prompt": {"none login"}}, "invalid_request")
		check("with its own ID token", browser, url.Values{"id_token_hint": {first.ID}}, "")
		check("with its access token", browser, url.Values{"id_token_hint": {first.Access}}, "invalid_request")
		check("with no token", browser, url.Values{"id_token_hint": {"x"}}, "invalid_request")
		check("max_age", browser, url.Values{"max_age": {"600"}}, "")
		check("acr_values, stated", browser, url.Values{"acr_values": {"silver gold"}}, "")
		check("acr_values, another", browser, url.Values{"acr_values": {"gold"}}, "")

		fake.Subject = "ben"
		ben := s.enter(s.browser(), fake, provider.ID, "openid")
		check("with another user's ID token", browser, url.Values{"id_token_hint": {ben.ID}}, "login_required")

		move := func(column string, ago time.Duration) {
			t.Helper()
			query := "UPDATE login_sessions SET " + column + " = $1"
			if _, err := db.SQL().ExecContext(t.Context(), query, models.Now().Add(-ago)); err != nil {
				t.Fatal(err)
			}
		}
		move("auth_time", 11*time.Minute)
		check("after max_age", browser, url.Values{"max_age": {"600"}}, "login_required")
		check("max_age=0", browser, url.Values{"max_age": {"0"}}, "login_required")
		move("seen_at", 25*time.Hour)
		check("after a day without use", browser, nil, "login_required")
		move("seen_at", time.Hour)
		check("after an hour without use", browser, nil, "")
		move("created_at", 8*24*time.Hour)
		check("after a week", browser, nil, "login_required")
		move("created_at", time.Minute)

		on, off := true, false
		set := func(enabled *bool) {
			t.Helper()
			in := contract.ProviderSettings{Enabled: enabled}
			if _, err := s.server.AppClients.UpdateProvider(t.Context(), s.owner, in.Of(provider.ID)); err != nil {
				t.Fatal(err)
			}
		}
		set(&off)
		check("with the provider off", browser, nil, "login_required")
		set(&on)
		check("with the provider on", browser, nil, "")
		if answer := s.get(browser, s.path("/logout?id_token_hint="+first.ID)); answer.status != http.StatusOK {
			t.Fatalf("signing out answers %d", answer.status)
		}
		check("after signing out", browser, nil, "login_required")
	})
}

// A cookie that was set before a sign-in, such as by another site below the same domain,
// must not become the session's.
func TestAuthorize_sessionCookie(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newLoginApp(t, db, contract.AppClientSettings{})
	fake, provider := s.offerFake()
	browser := s.browser()
	s.enter(browser, fake, provider.ID, "openid")
	cookie := func() *http.Cookie {
		t.Helper()
		at, err := url.Parse(s.url)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range browser.Jar.Cookies(at) {
			if strings.HasSuffix(one.Name, "-user-"+s.client.ID) {
				return one
			}
		}
		t.Fatal("there is no cookie of the session")
		return nil
	}
	before := cookie().Value
	s.enter(browser, fake, provider.ID, "openid")
	if cookie().Value == before {
		t.Error("the second sign-in keeps the cookie of the first")
	}
	other, err := s.server.AppClients.CreateClient(t.Context(), s.owner, contract.NewAppClient{
		Name: "other", AppClientSettings: contract.AppClientSettings{RedirectURIs: &[]string{callback}},
	}.In(s.tenant))
	if err != nil {
		t.Fatal(err)
	}
	stolen := cookie()
	s.client = other
	r, err := http.NewRequestWithContext(
		t.Context(), http.MethodGet, s.url+s.path("/authorize?prompt=none&"+s.request("openid").query.Encode()),
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	prefix, _, _ := strings.Cut(stolen.Name, "cli_")
	stolen.Name = prefix + other.ID
	r.AddCookie(stolen)
	if answer := s.do(s.browser(), r); answer.to == nil || answer.to.Query().Get("error") != "login_required" {
		t.Errorf("one client's cookie at another's pages: %d to %v, want login_required", answer.status, answer.to)
	}
}

// An application that expects one user must not be given the tokens of another.
func TestAuthorize_hintedUser(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newLoginApp(t, db, contract.AppClientSettings{})
	fake, provider := s.offerFake()
	browser := s.browser()
	first := s.enter(browser, fake, provider.ID, "openid")
	again := func() url.Values {
		t.Helper()
		r := s.request("openid")
		r.query.Set("id_token_hint", first.ID)
		to := s.toProvider(browser, r, provider.ID).String()
		return s.agree(browser, fake.Authorize(t, to).String()).Query()
	}
	if back := again(); back.Get("code") == "" {
		t.Errorf("the same user comes back with %v, want a code", back)
	}
	fake.Subject = "ben"
	if back := again(); back.Get("error") != "login_required" || back.Get("code") != "" {
		t.Errorf("another user comes back with %v, want login_required", back)
	}
}
