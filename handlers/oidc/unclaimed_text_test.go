package oidc_test

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/service/login/providers"
	"postern/testkit"
	"postern/testkit/idp"
	"postern/testkit/state"
)

// lure begins every text that the maker of an unclaimed application chooses in these tests.
const lure = "Call 0800"

// lurer is an unclaimed application that says lure wherever it can: in the labels of its providers, the name of its
// user, and the description of its scope.
type lurer struct {
	*app
	fake         *idp.Fake // at https://8.8.8.8, as unclaimed applications may not use other ports
	oidc, github string    // providers
	claim        func()
}

func newLurer(t *testing.T, db *models.DB) lurer {
	t.Helper()
	s := lurer{fake: idp.StartFake(t)}
	s.app, _, s.claim = newUnclaimedApp(t, db)
	s.fake.Issuer = "https://8.8.8.8"
	s.fake.Discovery = func(document map[string]any) {
		for name, path := range map[string]string{
			"authorization_endpoint": "/authorize", "token_endpoint": "/token", "jwks_uri": "/keys",
			"userinfo_endpoint": "/userinfo", "end_session_endpoint": "/end",
		} {
			document[name] = s.fake.Issuer + path
		}
	}
	s.fake.Claims = func(claims map[string]any) { claims["name"] = lure + " 1" }
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, strings.TrimPrefix(s.fake.URL, "http://"))
	}
	transport := &http.Transport{DialTLSContext: dial}
	t.Cleanup(transport.CloseIdleConnections)
	s.server.AppClients.Providers = &providers.Set{HTTP: &http.Client{Transport: transport}}
	s.declareScope()
	offered, err := s.server.AppClients.ProvidersOf(t.Context(), s.owner, contract.AppClientPath{Client: s.client.ID})
	if err != nil || len(offered.Items) != 1 {
		t.Fatalf("the app client has %v, %v", offered.Items, err)
	}
	s.github = offered.Items[0].ID
	label := lure + " 2"
	in := contract.ProviderSettings{Label: &label}
	if _, err := s.server.AppClients.UpdateProvider(t.Context(), s.owner, in.Of(s.github)); err != nil {
		t.Fatal(err)
	}
	name, secret := idp.ClientID, contract.Secret(idp.ClientSecret)
	s.oidc = s.offer(contract.NewProvider{
		Type:   "oidc",
		Issuer: s.fake.Issuer,
		ProviderSettings: contract.ProviderSettings{
			ClientID: &name, ClientSecret: &secret, Label: &label,
			TokenType: contract.NewTokenType{Client: "service", Upstream: "provider_access_token"},
		},
	}).ID
	return s
}

// declareScope has the project describe a scope that the client may request.
func (s lurer) declareScope() {
	s.t.Helper()
	tx := s.db.Read(s.t.Context())
	client, err := tx.AppClientByID(s.client.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	tenant, err := tx.TenantByID(client.TenantID)
	if err != nil {
		s.t.Fatal(err)
	}
	versions, err := tx.VersionsOf(*tenant.ProjectID)
	if err != nil {
		s.t.Fatal(err)
	}
	taken := contract.RequestsAuthChange{Methods: &[]string{"jwt"}} // so that a provider may have any token type
	_, err = s.server.Projects.UpdateVersion(s.t.Context(), s.owner, contract.VersionChange{RequestsAuth: taken}.Of(
		*tenant.ProjectID, versions[0].ID,
	))
	if err != nil {
		s.t.Fatal(err)
	}
	api := contract.API{Scopes: []snapshot.APIScope{{Name: "orders:read", Description: lure + " 3"}}}
	if _, err := s.server.Projects.SetAPIScopes(s.t.Context(), s.owner, contract.APIUpdate{
		ProjectPath: contract.ProjectPath{Project: *tenant.ProjectID}, Body: api,
	}); err != nil {
		s.t.Fatal(err)
	}
	change := contract.AppClientSettings{APIScopes: &[]string{"orders:*"}}
	if _, err := s.server.AppClients.UpdateClient(s.t.Context(), s.owner, change.Of(s.client.ID)); err != nil {
		s.t.Fatal(err)
	}
}

// arrive begins a sign-in at the OpenID Connect provider, and returns its answer.
func (s lurer) arrive() (*http.Client, request, *url.URL) {
	s.t.Helper()
	browser, r := s.browser(), s.request("openid profile orders:read")
	return browser, r, s.fake.Authorize(s.t, s.toProvider(browser, r, s.oidc).String())
}

// answering is a page after an authorization response in which some parameters are changed, and others removed ("").
func (s lurer) answering(change map[string]string) step {
	s.t.Helper()
	browser, _, back := s.arrive()
	query := back.Query()
	for name, value := range change {
		if query.Del(name); value != "" {
			query.Set(name, value)
		}
	}
	back.RawQuery = query.Encode()
	return s.get(browser, back.String())
}

// failing is a page after an authorization response, when the token endpoint answers with an error.
func (s lurer) failing(status int, code string) step {
	s.t.Helper()
	s.fake.Switch(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/token" {
			idp.Answer(w, status, map[string]any{"error": code})
		}
		return r.URL.Path == "/token"
	})
	defer s.fake.Switch(nil)
	return s.answering(nil)
}

// lying is a page after an authorization response, when the token endpoint's answer is changed.
func (s lurer) lying(change func(answer map[string]any)) step {
	s.t.Helper()
	s.fake.Token = change
	defer func() { s.fake.Token = nil }()
	return s.answering(nil)
}

// TestUnclaimedLogin_errors causes each error that names a provider. While the application is unclaimed, errors name
// the issuer's host, because anyone may have written the label (phishing).
func TestUnclaimedLogin_errors(t *testing.T) {
	t.Parallel()
	s := newLurer(t, state.OpenSQLite(t))
	failures := testkit.ByName(map[string]struct {
		page func() step
		says string // with the provider
	}{
		"denied": {
			func() step { return s.answering(map[string]string{"code": "", "error": "access_denied"}) },
			"You didn't finish signing in with %s.",
		},
		"an error": {
			func() step { return s.answering(map[string]string{"code": "", "error": "server_error"}) },
			"%s couldn't sign you in.",
		},
		"no code": {
			func() step { return s.answering(map[string]string{"code": ""}) },
			"%s couldn't sign you in.",
		},
		"unreachable":   {func() step { return s.failing(503, "") }, "%s isn't responding right now."},
		"misconfigured": {func() step { return s.failing(401, "invalid_client") }, "Sign-in with %s isn't set up"},
		"not confirmed": {func() step { return s.failing(400, "invalid_grant") }, "%s didn't confirm this sign-in."},
		"no ID token": {
			func() step { return s.lying(func(answer map[string]any) { delete(answer, "id_token") }) },
			"The response from %s couldn't be accepted.",
		},
		"no access token": {
			func() step { return s.lying(func(answer map[string]any) { delete(answer, "access_token") }) },
			"%s didn't send an access token.",
		},
		"no time of sign-in": {
			func() step {
				browser, r := s.browser(), s.request("openid")
				r.query.Set("max_age", "60")
				begun := s.get(browser, s.path("/authorize?"+r.query.Encode()))
				link := begun.Find("a[href$='/"+s.oidc+"']").AttrOr("href", "")
				if begun.to != nil { // at once to the only provider that can prove it
					attempt, _, _ := strings.Cut(begun.to.Query().Get("state"), ".")
					link = s.path("/login/" + attempt + "/" + s.oidc)
				}
				return s.get(browser, strings.TrimSuffix(link, s.oidc)+s.github)
			},
			"which %s can't provide.",
		},
	})
	check := func(when string, name func(failure string) string, warns bool) {
		for failure, tt := range failures {
			page := tt.page()
			text := strings.Join(strings.Fields(page.Find("main").Text()), " ")
			if want := strings.Replace(tt.says, "%s", name(failure), 1); !strings.Contains(text, want) {
				t.Errorf("%s, %s: the page says %s, want %q", failure, when, text, want)
			}
			if strings.Contains(page.raw, lure) == warns {
				t.Errorf("%s, %s: the page says what the application chose: %v", failure, when, !warns)
			}
		}
	}
	check("unclaimed", func(failure string) string {
		if failure == "no time of sign-in" {
			return "GitHub"
		}
		return "8.8.8.8"
	}, true)
	s.claim()
	check("claimed", func(string) string { return lure + " 2" }, false)
}

// TestUnclaimedLogin_pages checks that the pages of an unclaimed application have no text of its maker's choosing: no
// name of a user, which the maker's own provider can state, and no description of a scope.
func TestUnclaimedLogin_pages(t *testing.T) {
	t.Parallel()
	s := newLurer(t, state.OpenSQLite(t))
	s.fake.Claims = func(claims map[string]any) {
		claims["name"] = lure + " 1"
		delete(claims, "email")
	}
	s.fake.Serve = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/userinfo" { // without an address
			idp.Answer(w, http.StatusOK, map[string]any{"sub": s.fake.Subject})
		}
		return r.URL.Path == "/userinfo"
	}
	browser, r, back := s.arrive()
	consent := s.get(browser, back.String())
	s.cautions("consent", consent, 200, "use its API with the orders:read permission")
	s.exchange(r, s.post(browser, s.path("/consent"), formOf(consent, "agree")).to)
	account, logout := s.get(browser, s.path("/account")), s.get(browser, s.path("/logout"))
	s.cautions("the account", account, 200, "127.0.0.1")
	s.cautions("signing out", logout, 200, "8.8.8.8")
	for what, page := range map[string]step{"consent": consent, "account": account, "signing out": logout} {
		if strings.Contains(page.raw, lure) {
			t.Errorf("%s: %s", what, strings.Join(strings.Fields(page.Find("main").Text()), " "))
		}
	}
	s.claim()
	account, logout = s.get(browser, s.path("/account")), s.get(browser, s.path("/logout"))
	for _, text := range []string{lure + " 1", lure + " 2", lure + " 3", "Gogle"} {
		if !strings.Contains(account.raw, text) {
			t.Errorf("once it is claimed, the account page doesn't say %q", text)
		}
	}
	for _, text := range []string{lure + " 1", lure + " 2"} {
		if !strings.Contains(logout.raw, text) {
			t.Errorf("once it is claimed, the page to sign out doesn't say %q", text)
		}
	}
}
