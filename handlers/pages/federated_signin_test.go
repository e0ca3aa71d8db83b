package pages_test

import (
	"net/url"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/handlers"
	"postern/models"
	"postern/platform/config"
	"postern/service/accounts/federated"
	"postern/testkit"
	"postern/testkit/controlplane"
	"postern/testkit/idp"
	"postern/testkit/state"
)

// issuerSite is a site whose people can also sign in with a certified issuer.
type issuerSite struct {
	*controlplane.Browser
	issuer *idp.Certified
}

func newIssuerSite(t *testing.T, db *models.DB, issuer *idp.Certified) *issuerSite {
	t.Helper()
	return &issuerSite{controlplane.NewOwner(t, db, func(s *handlers.Server) {
		client := issuer.Register(t, s.Config.PublicURL+"/signin/oidc/callback")
		s.Providers = federated.FromConfig(config.SignIn{
			OIDC: config.OIDC{
				Issuer:       issuer.Issuer,
				ClientID:     client.ID,
				ClientSecret: config.Secret(client.Secret),
				Name:         "Example ID",
			},
			GitHub: config.GitHub{
				ClientID:     "app",
				ClientSecret: "secret",
				URL:          "http://127.0.0.1:9",
				APIURL:       "http://127.0.0.1:9",
			},
		})
		s.Accounts.OwnIssuer = issuer.Issuer
	}), issuer}
}

// away begins at a form and returns where the issuer sends the person back to.
func (a *issuerSite) away(form, name string, fields ...string) string {
	a.T.Helper()
	page := a.Post(form, fields...).Shows(200, "Going to Example ID")
	to := page.Find("a[data-leave]").AttrOr("href", "")
	if header := page.Header.Get("Refresh"); !strings.HasSuffix(header, to) || to == "" {
		a.T.Fatalf("leads to %q by itself, to %q by hand", header, to)
	}
	query, err := url.ParseQuery(to[strings.Index(to, "?")+1:])
	if err != nil || query.Get("code_challenge_method") != "S256" || query.Get("nonce") == "" ||
		query.Get("state") == "" {
		a.T.Fatalf("asks with %v, %v", query, err)
	}
	return a.issuer.SignIn(a.T, to, name).RequestURI()
}

func TestFederated_signIn(t *testing.T) {
	t.Parallel()
	issuer := idp.StartCertified(t)
	db := state.OpenSQLite(t)
	a := newIssuerSite(t, db, issuer)
	ana := a.Server
	owner, err := ana.Accounts.BySession(t.Context(), sessionOf(t, a.Browser).Value)
	if err != nil {
		t.Fatal(err)
	}
	open := contract.NewInvitation{Role: "member"}
	invitation, err := ana.Accounts.Invite(t.Context(), owner, open.In(owner.HomeTeam))
	if err != nil {
		t.Fatal(err)
	}
	a.Post("/signout").LeadsTo("/signin")
	a.Get("/signin").Shows(200, "Sign in").Says("main", "Continue with Example ID")

	// A known address alone signs no one in, and a new account needs an invitation.
	a.Get(a.away("/signin/oidc", "ana")).Shows(409, "Sign in").Says("[role=alert]", "Linked sign-ins")
	a.Get(a.away("/signin/oidc", "bob")).Shows(403, "Sign in").Says("[role=alert]", "invitation")
	a.Get(a.away("/signin/oidc", "unverified-eve", "next", "/invite/"+invitation.Code.Reveal())).
		Shows(403, "Sign in").
		Says("[role=alert]", "Verify it there")

	// The operator's issuer need not state that an address is verified, as Entra does not.
	hers := contract.NewInvitation{Role: "member", Email: "unstated-kim@example.com"}
	bound, err := ana.Accounts.Invite(t.Context(), owner, hers.In(owner.HomeTeam))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"mallory":          "This invitation is for",
		"unstated-mallory": "This invitation is for",
		"unverified-kim":   "Verify it",
	} {
		a.Get(a.away("/signin/oidc", name, "next", "/invite/"+bound.Code.Reveal())).Shows(403, "Sign in").
			Says("[role=alert]", want)
	}
	a.Get(a.away("/signin/oidc", "unstated-kim", "next", "/invite/"+bound.Code.Reveal())).LeadsTo("/projects")
	a.Get("/teams").Shows(200, "Teams").Says("main ul", "Member")
	a.Post("/signout").LeadsTo("/signin")

	back := a.away("/signin/oidc", "bob", "next", "/invite/"+invitation.Code.Reveal())
	a.Get(back).LeadsTo("/projects")
	a.Get("/teams").Shows(200, "Teams").Says("main ul", "Member")
	a.Post("/signout").LeadsTo("/signin")
	a.Get(back).Shows(401, "Sign in") // the answer a second time
	a.Get(a.away("/signin/oidc", "bob", "next", "/projects/new")).LeadsTo("/projects/new")

	// It is bob's only way in.
	page := a.Get("/account/signins").Shows(200, "Your account").Says("main", "bob@example.com")
	unlink := page.Find("form[action$='/unlink']").AttrOr("action", "")
	a.Post(unlink).Shows(409, "Your account").Says("[role=alert]", "only way")
}

func TestFederated_link(t *testing.T) {
	t.Parallel()
	issuer := idp.StartCertified(t)
	db := state.OpenSQLite(t)
	a := newIssuerSite(t, db, issuer)
	before := sessionOf(t, a.Browser).Value
	a.Get(a.away("/account/signins/link/oidc", "ana")).LeadsTo("/account/signins")
	if sessionOf(t, a.Browser).Value == before {
		t.Error("linking kept the session's secret")
	}
	a.Get("/account/signins").Shows(200, "Your account").Says("main", "Unlink")

	// A link that began in a session doesn't end without it.
	late := a.away("/account/signins/link/oidc", "mallory")
	a.Post("/signout").LeadsTo("/signin")
	a.Get(late).Shows(401, "Sign in").Says("[role=alert]", "You signed out or switched accounts")

	a.Get(a.away("/signin/oidc", "ana")).LeadsTo("/projects")
	page := a.Get("/account/signins").Shows(200, "Your account")
	unlink := page.Find("form[action$='/unlink']").AttrOr("action", "")
	a.Post(unlink).Shows(200, "Unlink Example ID").
		Says("dl", "ana@example.com").
		Says("dl", "your password").
		Says("[data-undo]", "link it again")
	a.Post(unlink, "confirm", "true").LeadsTo("/account/signins")
	a.Post("/signout").LeadsTo("/signin")
	a.Get(a.away("/signin/oidc", "ana")).Shows(409, "Sign in")
}

// A provider's response is accepted once, from the browser that began the sign-in, with
// its state, at the callback of the provider that was asked.
func TestFederatedCallback_otherAnswers(t *testing.T) {
	t.Parallel()
	issuer := idp.StartCertified(t)
	db := state.OpenSQLite(t)
	a := newIssuerSite(t, db, issuer)
	a.Server.Accounts.Policy = config.SignUpOpen
	a.Post("/signout").LeadsTo("/signin")

	stolen := a.away("/signin/oidc", "vic")
	a.ClearCookies()
	a.Get(stolen).Shows(401, "Sign in").Says("[role=alert]", "another browser")
	a.away("/signin/oidc", "mallory") // with its own attempt
	a.Get(stolen).Shows(401, "Sign in")

	back, err := url.Parse(a.away("/signin/oidc", "vic"))
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range testkit.ByName(map[string]func(url.Values){
		"no state":       func(q url.Values) { q.Del("state") },
		"another state":  func(q url.Values) { q.Set("state", "x") },
		"another issuer": func(q url.Values) { q.Set("iss", "https://evil.example") },
	}) {
		query := back.Query()
		change(query)
		if got := a.Get(back.Path + "?" + query.Encode()); got.Status != 401 {
			t.Errorf("%s: %d", name, got.Status)
		}
	}
	a.Get(strings.Replace(back.RequestURI(), "/oidc/", "/github/", 1)).Shows(401, "Sign in") // mix-up
	for _, to := range foreignTargets {
		fresh := a.away("/signin/oidc", "vic", "next", to)
		a.Get(fresh).LeadsTo("/projects")
		a.Post("/signout").LeadsTo("/signin")
	}
}

// A provider may send its answer by POST, from its own site and so without cookies.
func TestFederatedCallback_byPost(t *testing.T) {
	t.Parallel()
	a := newIssuerSite(t, state.OpenSQLite(t), idp.StartCertified(t))
	a.Server.Accounts.Policy = config.SignUpOpen
	a.Post("/signout").LeadsTo("/signin")
	back := a.away("/signin/oidc", "vic")
	path, query, _ := strings.Cut(back, "?")
	foreign := []string{"Origin", a.issuer.Issuer, "Sec-Fetch-Site", "cross-site"}

	got := a.Do("POST", path, query+"&id_token=secret&user=%7B%7D", foreign)
	to, err := url.Parse(got.Header.Get("Location"))
	if err != nil || got.Status != 303 || to.Host != "" || to.Path != path || strings.Contains(to.RawQuery, "secret") {
		t.Fatalf("an answer by POST gets %d %v, %v", got.Status, to, err)
	}
	if got.Header.Get("Set-Cookie") != "" {
		t.Errorf("an answer by POST sets %q", got.Header.Values("Set-Cookie"))
	}
	a.Get(to.String()).LeadsTo("/projects")
	a.Get("/projects").Shows(200, "Projects")

	for _, size := range []int{10_000, 100_000} {
		if got := a.Do("POST", path, "state=s&code="+strings.Repeat("x", size), foreign); got.Status != 413 {
			t.Errorf("an answer of %d bytes gets %d", size, got.Status)
		}
	}
	if got := a.Do("POST", "/signin/none/callback", query, foreign); got.Status != 404 {
		t.Errorf("a provider that is not configured gets %d", got.Status)
	}
	if got := a.Do("POST", "/signin/oidc", "next=/", foreign); got.Status != 403 {
		t.Errorf("a sign-in that another site begins gets %d", got.Status)
	}
}
