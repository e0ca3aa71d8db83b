package oidc_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/testkit"
	"postern/testkit/idp"
	"postern/testkit/state"
)

// offerFake adds a provider that can be made to lie.
func (s *app) offerFake(types ...contract.NewTokenType) (*idp.Fake, contract.Provider) {
	s.t.Helper()
	fake := idp.StartFake(s.t)
	name, secret := idp.ClientID, contract.Secret(idp.ClientSecret)
	return fake, s.offer(contract.NewProvider{
		Type:   "oidc",
		Issuer: fake.Issuer,
		ProviderSettings: contract.ProviderSettings{
			ClientID: &name, ClientSecret: &secret, TokenType: append(types, contract.NewTokenType{})[0],
		},
	})
}

// signIn is an honest login.
func (s *app) signIn(fake *idp.Fake, provider contract.Provider, scope string) (request, *url.URL) {
	s.t.Helper()
	browser, r := s.browser(), s.request(scope)
	back := fake.Authorize(s.t, s.toProvider(browser, r, provider.ID).String())
	return r, s.agree(browser, back.String())
}

// TestAuthorize_refusals has invalid authorization requests, each with whether the browser
// is redirected to the client with an error, or sees a page.
func TestAuthorize_refusals(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newLoginApp(t, db, contract.AppClientSettings{})
	s.offerFake()
	set := func(name, value string) func(url.Values) { return func(q url.Values) { q.Set(name, value) } }
	tests := map[string]struct {
		change func(url.Values)
		back   string // error that the client gets; "": the person sees a page
	}{
		"another host":             {set("redirect_uri", "https://evil.example/app/callback"), ""},
		"a path below":             {set("redirect_uri", callback+"/more"), ""},
		"a path with dots":         {set("redirect_uri", callback+"/../other"), ""},
		"a query more":             {set("redirect_uri", callback+"?next=1"), ""},
		"a fragment":               {set("redirect_uri", callback+"#x"), ""},
		"upper case":               {set("redirect_uri", strings.ToUpper(callback)), ""},
		"another loopback address": {set("redirect_uri", "http://127.0.0.2/app/callback"), ""},
		"a name before the host":   {set("redirect_uri", "http://127.0.0.1@evil.example/app/callback"), ""},
		"no redirect URI":          {func(q url.Values) { q.Del("redirect_uri") }, ""},
		"a script":                 {set("redirect_uri", "javascript:alert(1)"), ""},
		"two redirect URIs": {
			func(q url.Values) { q.Add("redirect_uri", "https://evil.example") },
			"invalid_request",
		},
		"another client's name": {set("client_id", "cli_other"), ""},
		"no PKCE": {
			func(q url.Values) { q.Del("code_challenge"); q.Del("code_challenge_method") },
			"invalid_request",
		},
		"PKCE plain":               {set("code_challenge_method", "plain"), "invalid_request"},
		"PKCE without its method":  {func(q url.Values) { q.Del("code_challenge_method") }, "invalid_request"},
		"a short challenge":        {set("code_challenge", "AAAA"), "invalid_request"},
		"no response type":         {set("response_type", ""), "invalid_request"},
		"the implicit flow":        {set("response_type", "token"), "unsupported_response_type"},
		"the hybrid flow":          {set("response_type", "code id_token"), "unsupported_response_type"},
		"an answer in a fragment":  {set("response_mode", "fragment"), "invalid_request"},
		"no openid":                {set("scope", "profile"), "invalid_scope"},
		"a request object":         {set("request", "eyJ"), "request_not_supported"},
		"a request object far off": {set("request_uri", "https://evil.example/r"), "request_not_supported"},
		"without asking":           {set("prompt", "none"), "login_required"},
		"not asking and asking":    {set("prompt", "none consent"), "invalid_request"},
		"an unknown prompt":        {set("prompt", "create"), "invalid_request"},
		"an age, not a number":     {set("max_age", "-1"), "invalid_request"},
		"a state of 3 KB":          {set("state", strings.Repeat("x", 3000)), "invalid_request"},
	}
	for name, tt := range testkit.ByName(tests) {
		r := s.request("openid")
		tt.change(r.query)
		got := s.get(s.browser(), s.path("/authorize?"+r.query.Encode()))
		if tt.back == "" {
			s.showsPage(name, got)
		} else {
			s.leadsBack(name, got, tt.back)
		}
	}
}

// showsPage checks that the answer is a page that leads nowhere.
func (s *app) showsPage(name string, got step) {
	s.t.Helper()
	if got.status != http.StatusBadRequest {
		s.t.Errorf("%s: %d, want 400", name, got.status)
	}
	if got.to != nil || got.Find("a[href]").Length() > 0 {
		s.t.Errorf("%s: leads to %v or has links, want a page that leads nowhere", name, got.to)
	}
}

// leadsBack checks that the answer is a redirect to the client with the error.
func (s *app) leadsBack(name string, got step, code string) {
	s.t.Helper()
	if got.to == nil || !strings.HasPrefix(got.to.String(), callback+"?") {
		s.t.Errorf("%s: %d to %v, want the client", name, got.status, got.to)
		return
	}
	query := got.to.Query()
	if query.Get("error") != code {
		s.t.Errorf("%s: error %q at the client, want %s", name, query.Get("error"), code)
	}
	if query.Get("iss") == "" {
		s.t.Errorf("%s: the client learns no issuer", name)
	}
}

// boundLogin is an application with two providers, to test that an answer counts once, in
// the browser that began the login, for the provider that was chosen.
type boundLogin struct {
	*app
	fake             *idp.Fake
	provider, second contract.Provider
}

func newBoundLogin(t *testing.T, db *models.DB) boundLogin {
	t.Helper()
	b := boundLogin{app: newLoginApp(t, db, contract.AppClientSettings{})}
	b.fake, b.provider = b.offerFake()
	_, b.second = b.offerFake()
	return b
}

// begin returns a browser at the provider, and the redirect back with its answer.
func (b boundLogin) begin() (*http.Client, *url.URL) {
	browser := b.browser()
	return browser, b.fake.Authorize(b.t, b.toProvider(browser, b.request("openid"), b.provider.ID).String())
}

// changed returns u with another query.
func changed(u *url.URL, change func(url.Values)) string {
	query := u.Query()
	change(query)
	return strings.Split(u.String(), "?")[0] + "?" + query.Encode()
}

func (b boundLogin) refused(name string, got step, status int) {
	b.t.Helper()
	if got.status != status || got.to != nil || got.Find("input[name=ticket]").Length() > 0 {
		b.t.Errorf("%s: %d %v %s", name, got.status, got.to, got.Find("main").Text())
	}
}

func TestLogin_callbackBinding(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	b := newBoundLogin(t, db)
	browser, back := b.begin()
	b.refused("another browser", b.get(b.browser(), back.String()), http.StatusForbidden)
	b.refused(
		"no state",
		b.get(browser, changed(back, func(q url.Values) { q.Del("state") })),
		http.StatusForbidden,
	)
	b.refused(
		"a state cut off",
		b.get(browser, changed(back, func(q url.Values) { q.Set("state", q.Get("state")[:40]) })),
		http.StatusForbidden,
	)
	b.refused(
		"two states",
		b.get(browser, changed(back, func(q url.Values) { q.Add("state", "x") })),
		http.StatusForbidden,
	)
	b.refused(
		"another provider's callback",
		b.get(browser, strings.Replace(back.String(), b.provider.ID, b.second.ID, 1)),
		http.StatusForbidden,
	)
	b.refused(
		"an unknown provider's",
		b.get(browser, strings.Replace(back.String(), b.provider.ID, "idp_x", 1)),
		http.StatusForbidden,
	)
	other, _ := b.begin()
	b.refused("another login's state", b.get(other, back.String()), http.StatusForbidden)
	b.refused(
		"another issuer's answer",
		b.get(browser, changed(back, func(q url.Values) { q.Set("iss", "https://evil.example") })),
		http.StatusForbidden,
	)
	b.refused("after that, the honest one", b.get(browser, back.String()), http.StatusConflict)
}

func TestLogin_consentBinding(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	b := newBoundLogin(t, db)
	browser, back := b.begin()
	other, _ := b.begin()
	page := b.get(browser, back.String())
	if page.Find("input[name=ticket]").Length() != 1 {
		t.Fatalf("no consent is asked: %d %s", page.status, page.Find("main").Text())
	}
	b.refused("the answer a second time, elsewhere", b.get(b.browser(), back.String()), http.StatusForbidden)
	form := formOf(page, "agree")
	b.refused(
		"consent of a browser without a login",
		b.post(b.browser(), b.path("/consent"), form),
		http.StatusForbidden,
	)
	b.refused(
		"consent of a browser with another login",
		b.post(other, b.path("/consent"), form),
		http.StatusForbidden,
	)
	b.refused(
		"the button of another browser's page",
		b.get(other, b.path("/login/"+form.Get("attempt")+"/"+b.second.ID)),
		http.StatusForbidden,
	)
	forged := url.Values{
		"attempt": form["attempt"],
		"answer":  {"agree"},
		"ticket":  {form.Get("ticket")[:40] + "AAAA" + form.Get("ticket")[44:]},
	}
	b.refused("a forged ticket", b.post(browser, b.path("/consent"), forged), http.StatusForbidden)
	elsewhere := b.browser()
	fresh := b.fake.Authorize(t, b.toProvider(elsewhere, b.request("openid"), b.provider.ID).String())
	theirs := formOf(b.get(elsewhere, fresh.String()), "agree")
	b.refused("the ticket of another login", b.post(elsewhere, b.path("/consent"), url.Values{
		"attempt": theirs["attempt"],
		"ticket":  form["ticket"],
		"answer":  {"agree"},
	}), http.StatusForbidden)
	if got := b.post(browser, b.path("/consent"), form); got.to == nil || got.to.Query().Get("code") == "" {
		t.Fatalf("consent leads to %d %v", got.status, got.to)
	}
	if got := b.post(browser, b.path("/consent"), form); got.to == nil || got.to.Query().Get("code") == "" {
		t.Errorf("consent a second time: %d %v, want the application", got.status, got.to)
	}
}

// TestLogin_sameAddressAtTwoProviders checks that two providers that return the same
// address mean two users: a provider that verifies any address opens no other account.
func TestLogin_sameAddressAtTwoProviders(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newLoginApp(t, db, contract.AppClientSettings{})
	var subjects []string
	for range 2 {
		fake, provider := s.offerFake()
		r, back := s.signIn(fake, provider, "openid email")
		id := claims(t, s.exchange(r, back).ID)
		if id["email"] != "ana@example.com" {
			t.Fatalf("the ID token says %v", id)
		}
		subjects = append(subjects, id["sub"].(string))
	}
	if subjects[0] == subjects[1] {
		t.Error("two providers with one address mean the same person")
	}
}
