package oidc_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/testkit/state"
)

const shopAPI = "https://api.shop.example"

// apiApp is an application whose project declares an audience and scopes, some of which it may request.
type apiApp struct {
	*app
	project string
}

func newAPIApp(t *testing.T, db *models.DB, in contract.AppClientSettings) apiApp {
	t.Helper()
	s := apiApp{app: newLoginApp(t, db, in)}
	tenant, err := db.Read(t.Context()).TenantByID(s.tenant)
	if err != nil {
		t.Fatal(err)
	}
	s.project = *tenant.ProjectID
	s.declare(shopAPI, "orders:read", "orders:write", "invoices:read")
	s.allow("orders:*")
	return s
}

func (s apiApp) declare(audience string, names ...string) {
	s.t.Helper()
	api := contract.API{Audience: audience}
	for _, name := range names {
		api.Scopes = append(api.Scopes, snapshot.APIScope{Name: name})
	}
	api.Scopes[0].Description = "see what you ordered"
	if _, err := s.server.Projects.SetAPIScopes(s.t.Context(), s.owner, contract.APIUpdate{
		ProjectPath: contract.ProjectPath{Project: s.project}, Body: api,
	}); err != nil {
		s.t.Fatal(err)
	}
}

func (s apiApp) allow(scopes ...string) {
	s.t.Helper()
	change := contract.AppClientSettings{APIScopes: &scopes}
	if _, err := s.server.AppClients.UpdateClient(s.t.Context(), s.owner, change.Of(s.client.ID)); err != nil {
		s.t.Fatal(err)
	}
}

func audienceOf(t *testing.T, token string) []string {
	t.Helper()
	switch aud := claims(t, token)["aud"].(type) {
	case string:
		return []string{aud}
	case []any:
		var out []string
		for _, one := range aud {
			out = append(out, one.(string))
		}
		return out
	}
	return nil
}

func TestAPIScopes_unknownTarget(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newAPIApp(t, db, contract.AppClientSettings{})
	s.offerFake()
	for name, resource := range map[string]string{
		"an unknown API":                   "https://api.other.example",
		"another client":                   s.client.ID,
		"an API by its address with slash": shopAPI + "/",
	} {
		r := s.request("openid")
		r.query.Set("resource", resource)
		s.leadsBack(name, s.get(s.browser(), s.path("/authorize?"+r.query.Encode())), "invalid_target")
	}
}

// TestAPIScopes_ignored asks for scopes that nothing declares, or that the client may not request.
func TestAPIScopes_ignored(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newAPIApp(t, db, contract.AppClientSettings{})
	fake, provider := s.offerFake()
	for name, tt := range map[string]struct{ scope, resource string }{
		"a scope that is not declared":    {"admin", ""},
		"of OpenID Connect":               {"address phone", ""},
		"of another issuer":               {"roles User.Read https://graph.microsoft.com/.default", ""},
		"one the client may not ask for":  {"invoices:read", ""},
		"a family that is not declared":   {"orders:*", ""},
		"one with odd characters":         {`or"ders`, ""},
		"the pseudo scope of the consent": {"provider_token", ""},
		"an API and a scope it has not":   {"admin", shopAPI},
	} {
		browser, r := s.browser(), s.request("openid "+tt.scope+" orders:read offline_access")
		if tt.resource != "" {
			r.query.Set("resource", tt.resource)
		}
		page := s.get(browser, fake.Authorize(t, s.toProvider(browser, r, provider.ID).String()).String())
		for one := range strings.FieldsSeq(tt.scope) {
			if strings.Contains(page.Find("main").Text(), one) {
				t.Errorf("%s: the consent page shows %s", name, page.Find("main").Text())
			}
		}
		back := page.to
		if back == nil {
			back = s.post(browser, s.path("/consent"), formOf(page, "agree")).to
		}
		tokens := s.exchange(r, back)
		const want = "openid orders:read offline_access"
		if tokens.Scope != want || claims(t, tokens.Access)["scope"] != want {
			t.Errorf("%s: granted %q, want %q", name, tokens.Scope, want)
		}
		again := s.token(url.Values{
			"grant_type":    {"refresh_token"},
			"refresh_token": {tokens.Refresh},
			"scope":         {"openid " + tt.scope},
		})
		if again.Error != "" || again.Scope != "openid" {
			t.Errorf("%s: a refresh that asks for it too gives %+v", name, again)
		}
	}
}

// TestAPIScopes_tokens signs in for API scopes, and checks consent, scope and aud of the
// tokens, also after the scopes were withdrawn.
func TestAPIScopes_tokens(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newAPIApp(t, db, contract.AppClientSettings{})
	fake, provider := s.offerFake()
	browser, r := s.browser(), s.request("openid phone orders:read orders:write offline_access")
	page := s.get(browser, fake.Authorize(t, s.toProvider(browser, r, provider.ID).String()).String())
	shown := page.Find("main").Text()
	for _, want := range []string{"see what you ordered", "use its API with the orders:write permission"} {
		if !strings.Contains(shown, want) {
			t.Errorf("the consent page does not say %q: %s", want, shown)
		}
	}
	german := s.request("openid orders:read orders:write")
	german.query.Set("ui_locales", "de")
	other := s.browser()
	found := s.get(other, fake.Authorize(t, s.toProvider(other, german, provider.ID).String()).String())
	for _, want := range []string{"see what you ordered", "mit der Berechtigung orders:write"} {
		if shown := found.Find("main").Text(); !strings.Contains(shown, want) {
			t.Errorf("the German consent page does not say %q: %s", want, shown)
		}
	}
	tokens := s.exchange(r, s.post(browser, s.path("/consent"), formOf(page, "agree")).to)
	if want := "openid orders:read orders:write offline_access"; tokens.Scope != want {
		t.Errorf("granted %q, want %q", tokens.Scope, want)
	}
	if scope := claims(t, tokens.Access)["scope"]; scope != tokens.Scope {
		t.Errorf("the access token's scope is %v", scope)
	}
	if aud := audienceOf(t, tokens.Access); !slices.Equal(aud, []string{s.client.ID, shopAPI}) {
		t.Errorf("the access token is for %v", aud)
	}
	if aud := audienceOf(t, tokens.ID); !slices.Equal(aud, []string{s.client.ID}) {
		t.Errorf("the ID token is for %v", aud)
	}
	refresh := func(more url.Values) got {
		form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {tokens.Refresh}}
		for name, values := range more {
			form[name] = values
		}
		out := s.token(form)
		if out.Refresh != "" {
			tokens.Refresh = out.Refresh
		}
		return out
	}
	narrow := refresh(url.Values{"resource": {shopAPI}, "scope": {"openid orders:read"}})
	if narrow.Scope != "openid orders:read" {
		t.Errorf("a narrower refresh is granted %q: %+v", narrow.Scope, narrow)
	}
	if aud := audienceOf(t, narrow.Access); !slices.Equal(aud, []string{shopAPI}) {
		t.Errorf("a token for one API is for %v", aud)
	}
	if status := s.userInfo(narrow.Access); status != http.StatusOK {
		t.Errorf("userinfo with a token for one API: %d", status)
	}
	if got := refresh(url.Values{"resource": {"https://api.other.example"}}); got.Error != "invalid_target" {
		t.Errorf("a refresh for an unknown API: %+v", got)
	}
	s.allow("orders:read")
	if got := refresh(nil); got.Scope != "openid orders:read offline_access" {
		t.Errorf("after the app client lost a scope, a refresh grants %q %s", got.Scope, got.Error)
	}
	s.declare(shopAPI, "invoices:read")
	if got := refresh(nil); got.Scope != "openid offline_access" {
		t.Errorf("after the project lost it, a refresh grants %q %s", got.Scope, got.Error)
	}
}

// TestAPIScopes_resource signs in for one API alone.
func TestAPIScopes_resource(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newAPIApp(t, db, contract.AppClientSettings{})
	fake, provider := s.offerFake()
	for _, parameter := range []string{"resource", "audience"} {
		browser, r := s.browser(), s.request("openid orders:read")
		r.query.Set(parameter, shopAPI)
		back := fake.Authorize(t, s.toProvider(browser, r, provider.ID).String())
		tokens := s.exchange(r, s.agree(browser, back.String()))
		if aud := audienceOf(t, tokens.Access); !slices.Equal(aud, []string{shopAPI}) {
			t.Errorf("by %s, the token is for %v", parameter, aud)
		}
	}
	// A client that asked for one API gets no token for another, nor for all.
	browser, r := s.browser(), s.request("openid")
	r.query.Set("resource", shopAPI)
	back := fake.Authorize(t, s.toProvider(browser, r, provider.ID).String())
	to := s.agree(browser, back.String())
	s.declare("https://new.shop.example", "orders:read")
	refused := s.token(url.Values{
		"grant_type":    {"authorization_code"},
		"code":          {to.Query().Get("code")},
		"redirect_uri":  {callback},
		"code_verifier": {r.verifier},
		"resource":      {"https://new.shop.example"},
	})
	if refused.Error != "invalid_target" {
		t.Errorf("a code for one API gives a token for another: %+v", refused)
	}
	if got := s.exchange(r, to); got.Error != "invalid_target" {
		t.Errorf("after its API has another audience: %+v", got)
	}
}

func TestAppClient_unknownAPIScope(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newAPIApp(t, db, contract.AppClientSettings{})
	for _, scopes := range [][]string{{"admin"}, {"orders:*", "orders:*"}, {"order:*"}, {"openid"}, {"*"}} {
		change := contract.AppClientSettings{APIScopes: &scopes}
		_, err := s.server.AppClients.UpdateClient(t.Context(), s.owner, change.Of(s.client.ID))
		if fault.KindOf(err) != fault.Invalid {
			t.Errorf("%v: %v, want it refused", scopes, err)
		}
	}
}
