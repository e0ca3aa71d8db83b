package oidc_test

import (
	"net/http"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/service/access"
	"postern/service/login/providers"
	"postern/testkit/controlplane"
	"postern/testkit/idp"
	"postern/testkit/state"
)

// newUnclaimedApp returns an application in an unclaimed workspace, with the caps of
// anonymous callers and the branding of a well-known company (phishing).
func newUnclaimedApp(t *testing.T, db *models.DB) (s *app, github *idp.GitHub, claim func()) {
	t.Helper()
	s, github = newLoginApp(t, db, contract.AppClientSettings{}), idp.StartGitHub(t)
	s.server.Projects.CapUnclaimed, s.server.AppClients.CapUnclaimed = true, true
	s.server.AppClients.Providers = &providers.Set{
		HTTP:      s.server.AppClients.Providers.HTTP,
		GitHubURL: github.URL,
		GitHubAPI: github.URL,
	}
	h := s.server.Handler()
	made := controlplane.Call(
		t,
		h,
		"POST",
		"/proxy",
		"",
		`{"target":"http://8.8.8.8","login":{"redirect_uris":["`+callback+`"],
		"providers":[{"type":"github","client_id":"`+idp.ClientID+`",
			"client_secret":"`+idp.ClientSecret+`"}]}}`,
	)
	if made.Status != 201 {
		t.Fatalf("POST /proxy: %d %s", made.Status, made.Raw)
	}
	key := made.Body["workspace_key"].(string)
	s.client.ID = made.Body["login"].(map[string]any)["client_id"].(string)
	brand := controlplane.Call(t, h, "PATCH", "/api/v1/app-clients/"+s.client.ID, key, `{"logout_uris":["`+callback+`"],
		"branding":{"title":"Gogle","welcome":"Your session expired.",
			"logo_url":"https://logo.example/g.svg","color":"#ff0000"}}`)
	if brand.Status != 200 {
		t.Fatalf("dress as somebody else: %d %s", brand.Status, brand.Raw)
	}
	project, err := db.Read(t.Context()).ProjectByID(made.Body["project"].(map[string]any)["id"].(string))
	if err != nil {
		t.Fatal(err)
	}
	s.owner = access.Principal{
		Account:  "acc_1",
		Roles:    map[string]access.Role{project.TeamID: access.Owner},
		HomeTeam: project.TeamID,
	}
	return s, github, func() {
		t.Helper()
		err := db.Write(t.Context(), func(tx *models.Tx) error {
			_, err := tx.ClaimTeam(project.TeamID, "Shop", models.Now())
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// cautions checks that a page warns and wears nothing of its maker's choosing.
func (s *app) cautions(what string, page step, status int, says string) {
	s.t.Helper()
	text := strings.Join(strings.Fields(page.Find("main").Text()), " ")
	if page.status != status || !strings.Contains(text, "This application is unclaimed") ||
		!strings.Contains(text, says) {
		s.t.Errorf("%s: %d %s, want %d and %q", what, page.status, text, status, says)
	}
	for _, foreign := range []string{"Gogle", "session expired", "logo.example", "brand.css"} {
		if strings.Contains(page.raw+page.header.Get("Content-Security-Policy"), foreign) {
			s.t.Errorf("%s: it shows %s", what, foreign)
		}
	}
}

func TestUnclaimedLogin_marked(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, github, claim := newUnclaimedApp(t, db)
	browser, r := s.browser(), s.request("openid profile")
	page := s.get(browser, s.path("/authorize?"+r.query.Encode()))
	s.cautions("the first page", page, 200, "It will send you to 127.0.0.1.")
	to := s.get(browser, page.Find("a[data-provider=github]").AttrOr("href", "")).to
	consent := s.get(browser, github.Authorize(t, to.String()).String())
	s.cautions("the question", consent, 200, "Continue to 127.0.0.1?")
	back := s.post(browser, s.path("/consent"), formOf(consent, "agree")).to
	if back == nil || !back.Query().Has("code") {
		t.Fatalf("who agrees is sent to %v", back)
	}
	s.cautions("a failure", s.get(s.browser(), s.path("/callback/idp_1?state=x")), 403, "Don't enter passwords")
	s.cautions("signing out", s.get(browser, s.path("/logout")), 200, "Sign out?")
	if got := s.get(browser, s.path("/brand.css")); got.status != 404 {
		t.Errorf("its color: %d %s", got.status, got.raw)
	}
	claim()
	r.query.Set("prompt", "select_account") // the only provider is gone to at once otherwise
	page = s.get(s.browser(), s.path("/authorize?"+r.query.Encode()))
	if page.Find("[data-unclaimed]").Length() > 0 || page.Find("h1").Text() != "Sign in to Gogle" ||
		page.Find("img[src='https://logo.example/g.svg']").Length() != 1 {
		t.Errorf("once it is claimed: %s", page.raw)
	}
}

// TestUnclaimedLogin_openRedirect checks that a link to an unclaimed application's login
// does not redirect to the application without a click (open redirect).
func TestUnclaimedLogin_openRedirect(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, github, claim := newUnclaimedApp(t, db)
	silent := s.request("openid").query
	silent.Set("prompt", "none")
	links := map[string]string{
		"unsupported_response_type": s.path(
			"/authorize?response_type=token&client_id=" + s.client.ID + "&redirect_uri=" + callback,
		),
		"login_required": s.path("/authorize?" + silent.Encode()),
	}
	for code, link := range links {
		page := s.get(s.browser(), link)
		s.cautions(code, page, 400, code)
		on := page.Find("main a")
		if page.to != nil || strings.TrimSpace(on.Text()) != "Continue to 127.0.0.1" ||
			!strings.HasPrefix(on.AttrOr("href", ""), callback+"?error="+code+"&") {
			t.Errorf("%s: it sends people to %v and offers %s", code, page.to, on.AttrOr("href", ""))
		}
	}
	browser, r := s.browser(), s.request("openid")
	provider := s.get(browser, s.path("/authorize?"+r.query.Encode())).
		Find("a[data-provider=github]").
		AttrOr("href", "")
	back := s.agree(browser, github.Authorize(t, s.get(browser, provider).to.String()).String())
	out := s.path("/logout?id_token_hint=" + s.exchange(r, back).ID + "&post_logout_redirect_uri=" + callback)
	page := s.get(s.browser(), out)
	s.cautions("signing out with a link", page, 200, "You're signed out")
	if page.to != nil || page.Find("main a").AttrOr("href", "") != callback {
		t.Errorf("signing out sends people to %v: %s", page.to, page.raw)
	}
	claim()
	for code, link := range links {
		if page := s.get(s.browser(), link); page.to == nil || page.to.Query().Get("error") != code {
			t.Errorf("%s, once it is claimed: %d, to %v", code, page.status, page.to)
		}
	}
	if page := s.get(s.browser(), out); page.to == nil || page.to.String() != callback {
		t.Errorf("signing out, once it is claimed: %d, to %v", page.status, page.to)
	}
}

// Addresses in a discovery document have the same restrictions as the issuer. It is remembered for all who name the
// issuer, so each login is judged, not each reading.
func TestUnclaimedLogin_discoveryPorts(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _, claim := newUnclaimedApp(t, db)
	name, secret := idp.ClientID, contract.Secret(idp.ClientSecret)
	fake := idp.StartFake(t) // at an odd port, as what it names
	provider := s.offer(contract.NewProvider{
		Type:             "oidc",
		Issuer:           fake.Issuer,
		ProviderSettings: contract.ProviderSettings{ClientID: &name, ClientSecret: &secret},
	})
	press := func() step {
		browser, r := s.browser(), s.request("openid")
		page := s.get(browser, s.path("/authorize?"+r.query.Encode()))
		return s.get(browser, page.Find("a[href$='/"+provider.ID+"']").AttrOr("href", ""))
	}
	s.cautions("an odd port", press(), 403, "couldn't be accepted")
	fake.Discovery = func(document map[string]any) {
		for _, one := range []string{"authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint"} {
			document[one] = "https://8.8.8.8/" + one
		}
	}
	s.server.AppClients.Providers = &providers.Set{HTTP: s.server.AppClients.Providers.HTTP}
	if got := press(); got.to == nil || got.to.Host != "8.8.8.8" {
		t.Errorf("web ports: %d %s", got.status, got.Text())
	}
	honest := fake.Discovery
	for _, one := range []string{"token_endpoint", "jwks_uri", "userinfo_endpoint", "introspection_endpoint"} {
		fake.Discovery = func(document map[string]any) {
			honest(document)
			document[one] = "https://8.8.8.8:6379/"
		}
		s.server.AppClients.Providers = &providers.Set{HTTP: s.server.AppClients.Providers.HTTP}
		s.cautions(one, press(), 403, "couldn't be accepted")
	}
	claim()
	if got := press(); got.to == nil {
		t.Errorf("once it is claimed: %d %s", got.status, got.Text())
	}
}

func TestUnclaimedLogin_issuerPorts(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewServer(t, db)
	s.Projects.CapUnclaimed = true
	h := s.Handler()
	auth := func(pair string) string {
		return `"requests_auth":{"mode":"authenticate","methods":["jwt"],` +
			`"jwt":{"allowed_pairs":[{"aud":"x",` + pair + `}]}}`
	}
	good := controlplane.Call(
		t,
		h,
		"POST",
		"/proxy",
		"",
		`{"target":"http://8.8.8.8",`+auth(`"iss":"https://8.8.8.8/a","jwks_url":"http://127.0.0.1/x"`)+`}`,
	)
	key, _ := good.Body["workspace_key"].(string)
	project, _ := good.Body["project"].(map[string]any)
	if good.Status != http.StatusCreated || key == "" {
		t.Fatalf("web ports: %d %s", good.Status, good.Raw)
	}
	versions, err := db.Read(t.Context()).VersionsOf(project["id"].(string))
	if err != nil {
		t.Fatal(err)
	}
	at := "/api/v1/projects/" + project["id"].(string) + "/versions/" + versions[0].ID
	owner := controlplane.SignUpOwner(t, s)
	for pair, member := range map[string]string{
		`"iss":"https://8.8.8.8:8443/a"`:                                  "iss",
		`"iss":"http://localhost:18599"`:                                  "iss",
		`"iss":"https://8.8.8.8/a","jwks_url":"http://127.0.0.1:18599/x"`: "jwks_url",
		`"iss":"https://8.8.8.8/a","jwks_url":"https://8.8.8.8:8443/x"`:   "jwks_url",
	} {
		want := "/requests_auth/jwt/allowed_pairs/0/" + member + " port_needs_claim"
		create := `{"target":"http://8.8.8.8",` + auth(pair) + `}`
		for what, got := range map[string]controlplane.Response{
			"no credential":             controlplane.Call(t, h, "POST", "/proxy", "", create),
			"a workspace":               controlplane.Call(t, h, "POST", "/proxy", key, create),
			"a change of the workspace": controlplane.Call(t, h, "PATCH", at, key, `{`+auth(pair)+`}`),
		} {
			if list := strings.Join(got.PointerCodes(), ","); got.Status != 422 || list != want {
				t.Errorf("%s, %s: %d %s, want 422 %s", what, pair, got.Status, got.Raw, want)
			}
		}
		got := controlplane.Call(t, h, "POST", "/proxy", "", create, owner...)
		if got.Status != http.StatusCreated {
			t.Errorf("an account, %s: %d %s", pair, got.Status, got.Raw)
		}
	}
	got := controlplane.Call(t, h, "PATCH", at, key, `{`+auth(`"iss":"https://8.8.8.8/b"`)+`}`)
	if got.Status != http.StatusOK {
		t.Errorf("a change at a web port: %d %s", got.Status, got.Raw)
	}
}
