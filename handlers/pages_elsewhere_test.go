package handlers_test

import (
	"net/url"
	"strings"
	"testing"

	"postern/models"
	"postern/platform/config"
	"postern/service/accounts/provider"
	"postern/testkit/oidcprovider"
	"postern/testkit/state"
)

// abroad is a site whose people can also sign in with a certified issuer.
type abroad struct {
	*site
	issuer *oidcprovider.Provider
}

func newAbroad(t *testing.T, s *site, issuer *oidcprovider.Provider) *abroad {
	t.Helper()
	client := issuer.Register(t, s.server.Config.PublicURL+"/signin/oidc/callback")
	s.server.Providers = provider.FromConfig(config.SignIn{OIDC: config.OIDC{Issuer: issuer.Issuer, ClientID: client.ID, ClientSecret: config.Secret(client.Secret), Name: "Example ID"},
		GitHub: config.GitHub{ClientID: "app", ClientSecret: "secret", URL: "http://127.0.0.1:9", APIURL: "http://127.0.0.1:9"}})
	return &abroad{s, issuer}
}

// away begins at a form and returns where the issuer sends the person back to.
func (a *abroad) away(form, name string, fields ...string) string {
	a.t.Helper()
	page := a.post(form, fields...).is(200, "Going to Example ID")
	to := page.Find("a[data-leave]").AttrOr("href", "")
	if header := page.header.Get("Refresh"); !strings.HasSuffix(header, to) || to == "" {
		a.t.Fatalf("leads to %q by itself, to %q by hand", header, to)
	}
	query, err := url.ParseQuery(to[strings.Index(to, "?")+1:])
	if err != nil || query.Get("code_challenge_method") != "S256" || query.Get("nonce") == "" || query.Get("state") == "" {
		a.t.Fatalf("asks with %v, %v", query, err)
	}
	return a.issuer.SignIn(a.t, to, name).RequestURI()
}

func TestSigningInWithAnIssuer(t *testing.T) {
	issuer := oidcprovider.Start(t)
	state.Each(t, func(t *testing.T, db *models.DB) {
		a := newAbroad(t, newOwner(t, db), issuer)
		ana := a.server
		owner, err := ana.Accounts.BySession(t.Context(), sessionOf(t, a.site).Value)
		if err != nil {
			t.Fatal(err)
		}
		invitation, err := ana.Accounts.Invite(t.Context(), owner, owner.HomeTeam, "member", "")
		if err != nil {
			t.Fatal(err)
		}
		a.post("/signout").leadsTo("/signin")
		a.get("/signin").is(200, "Sign in").says("main", "Continue with Example ID")

		// The address alone opens nothing, and nobody comes in without an invitation.
		a.get(a.away("/signin/oidc", "ana")).is(409, "Sign in").says("[role=alert]", "Linked sign-ins")
		a.get(a.away("/signin/oidc", "bob")).is(403, "Sign in").says("[role=alert]", "invitation")
		a.get(a.away("/signin/oidc", "unverified-eve", "next", "/invite/"+invitation.Code)).is(403, "Sign in").says("[role=alert]", "Verify it there")

		back := a.away("/signin/oidc", "bob", "next", "/invite/"+invitation.Code)
		a.get(back).leadsTo("/projects")
		a.get("/teams").is(200, "Teams").says("main ul", "Member")
		a.post("/signout").leadsTo("/signin")
		a.get(back).is(401, "Sign in") // the answer a second time
		a.get(a.away("/signin/oidc", "bob", "next", "/projects/new")).leadsTo("/projects/new")

		// It is bob's only way in.
		page := a.get("/account/signins").is(200, "Your account").says("main", "bob@example.com")
		unlink := page.Find("form[action$='/unlink']").AttrOr("action", "")
		a.post(unlink).is(409, "Your account").says("[role=alert]", "only way")
	})
}

func TestLinkingAnIssuer(t *testing.T) {
	issuer := oidcprovider.Start(t)
	state.Each(t, func(t *testing.T, db *models.DB) {
		a := newAbroad(t, newOwner(t, db), issuer)
		before := sessionOf(t, a.site).Value
		a.get(a.away("/account/signins/link/oidc", "ana")).leadsTo("/account/signins")
		if sessionOf(t, a.site).Value == before {
			t.Error("linking kept the session's secret")
		}
		a.get("/account/signins").is(200, "Your account").says("main", "Unlink")

		// What began in a session does not end without it.
		late := a.away("/account/signins/link/oidc", "mallory")
		a.post("/signout").leadsTo("/signin")
		a.get(late).is(401, "Sign in").says("[role=alert]", "no longer signed in")

		a.get(a.away("/signin/oidc", "ana")).leadsTo("/projects")
		page := a.get("/account/signins").is(200, "Your account")
		a.post(page.Find("form[action$='/unlink']").AttrOr("action", "")).leadsTo("/account/signins")
		a.post("/signout").leadsTo("/signin")
		a.get(a.away("/signin/oidc", "ana")).is(409, "Sign in")
	})
}

// An answer is worth something only to the browser that asked, once, in its own
// state, and at the callback of whom it asked.
func TestAnswersForOthersAreRefused(t *testing.T) {
	issuer := oidcprovider.Start(t)
	state.Each(t, func(t *testing.T, db *models.DB) {
		a := newAbroad(t, newOwner(t, db), issuer)
		a.server.Accounts.Policy = config.SignUpOpen
		a.post("/signout").leadsTo("/signin")

		stolen := a.away("/signin/oidc", "vic")
		a.forget()
		a.get(stolen).is(401, "Sign in").says("[role=alert]", "another browser")
		a.away("/signin/oidc", "mallory") // with an attempt of its own
		a.get(stolen).is(401, "Sign in")

		back, err := url.Parse(a.away("/signin/oidc", "vic"))
		if err != nil {
			t.Fatal(err)
		}
		for name, change := range map[string]func(url.Values){
			"no state":       func(q url.Values) { q.Del("state") },
			"another state":  func(q url.Values) { q.Set("state", "x") },
			"another issuer": func(q url.Values) { q.Set("iss", "https://evil.example") },
		} {
			query := back.Query()
			change(query)
			if got := a.get(back.Path + "?" + query.Encode()); got.status != 401 {
				t.Errorf("%s: %d", name, got.status)
			}
		}
		a.get(strings.Replace(back.RequestURI(), "/oidc/", "/github/", 1)).is(401, "Sign in") // mix-up
		for _, to := range elsewhere {
			fresh := a.away("/signin/oidc", "vic", "next", to)
			a.get(fresh).leadsTo("/projects")
			a.post("/signout").leadsTo("/signin")
		}
	})
}
