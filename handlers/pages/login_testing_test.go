package pages_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"postern/models"
	"postern/testkit/controlplane"
	"postern/testkit/idp"
	"postern/testkit/state"
)

// testLoginSite is an owner with an app client that offers a fake provider.
type testLoginSite struct {
	*controlplane.Browser
	fake *idp.Fake
	page string // of the app client
}

func newTestLoginSite(t *testing.T, db *models.DB) *testLoginSite {
	t.Helper()
	s, tab := newLoginTab(t, db)
	s.Server.Config.PublicURL, s.Server.AppClients.PublicURL = s.URL, s.URL
	out := &testLoginSite{Browser: s, fake: idp.StartFake(t), page: s.CreateAppClient(tab)}
	provider := s.Post(out.page+"/providers", "type", "oidc", "issuer", out.fake.Issuer).Location()
	s.Post(provider,
		"client_id", idp.ClientID, "client_secret", idp.ClientSecret,
		"client_token", "service", "upstream_token", "service", "enabled", "true",
	).LeadsTo(out.page + "#providers")
	return out
}

// here is the path of an address of the site.
func (s *testLoginSite) here(address string) string {
	s.T.Helper()
	path, ok := strings.CutPrefix(address, s.URL)
	if !ok {
		s.T.Fatalf("%q is elsewhere", address)
	}
	return path
}

// answered returns the callback URL of a test login that was completed at the provider.
func (s *testLoginSite) answered() string {
	s.T.Helper()
	choice := s.Get(s.Post(s.page+"/test").Location()).Shows(200, "Sign in to shop").Says("main", "a test login")
	chosen := s.Get(choice.Find("a[data-provider]").AttrOr("href", ""))
	return s.here(s.fake.Authorize(s.T, chosen.Header.Get("Location")).String())
}

// tested is the page where it ends, agreeing where that is asked.
func (s *testLoginSite) tested() string {
	s.T.Helper()
	page := s.Get(s.answered())
	if page.Status == http.StatusOK {
		action := page.Find("form").AttrOr("action", "")
		form := []string{"answer", "agree"}
		for _, name := range []string{"attempt", "ticket"} {
			form = append(form, name, page.Find("[name="+name+"]").AttrOr("value", ""))
		}
		page = s.Post(action, form...)
	}
	return s.here(page.Header.Get("Location"))
}

// tokenForm is that of a JWT's head or claims (RFC 7519, 3): JSON in base64url. Random values, such as at_hash and
// nonce, can hold its beginning, and are shorter.
var tokenForm = regexp.MustCompile(`eyJ[\w-]{43,}`)

func TestTestLogin(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newTestLoginSite(t, db)
		end := s.tested()
		page := s.Get(end).
			Shows(200, "Test login to web succeeded").
			Says("[aria-labelledby=id-token]", `"ana@example.com"`).
			Says("[aria-labelledby=access-token]", "tenant")
		// Neither token of ours has the form of one on the page, and the code is used up.
		if code := queryOf(end).Get("code"); tokenForm.MatchString(page.Raw) || strings.Contains(page.Raw, code) {
			t.Error("a token or the code is on the page")
		}
		s.Get(end).Shows(403, "Test login failed")
		const live = "SELECT count(*) FROM login_sessions WHERE ended_at IS NULL"
		var n int
		if err := db.SQL().QueryRowContext(t.Context(), live).Scan(&n); err != nil || n != 0 {
			t.Errorf("%d login sessions are live after the test login, want 0 (%v)", n, err)
		}
	})
}

func queryOf(path string) url.Values {
	u, err := url.Parse(path)
	if err != nil {
		return nil
	}
	return u.Query()
}

// Only the account and the browser that began a test login see its result, and the token
// endpoint does not redeem its code.
func TestTestLogin_otherBrowser(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newTestLoginSite(t, db)
	end := s.tested()
	q, client := queryOf(end), strings.Split(end, "/")[2]
	answer := s.Post("/oauth/"+client+"/token",
		"grant_type", "authorization_code", "client_id", client, "code", q.Get("code"),
		"redirect_uri", s.URL+strings.Split(end, "?")[0],
		"code_verifier", strings.Repeat("a", 43),
	)
	if answer.Status != http.StatusBadRequest {
		t.Errorf("the token endpoint answers the code with %d", answer.Status)
	}
	jar := s.Client.Jar
	s.ClearCookies()
	s.Get(end).LeadsTo("/signin")
	s.Post("/signin", "email", "ana@example.com", "password", controlplane.Password)
	s.Get(end).Shows(403, "Test login failed") // the same account elsewhere
	s.Client.Jar = jar
	s.Get(strings.Replace(end, "state=lgn_", "state=lgn_x", 1)).Shows(403, "Test login failed")
	s.Get(end).Shows(200, "Test login to web succeeded")
	asked := url.Values{
		"client_id":             {client},
		"redirect_uri":          {s.URL + "/oauth/" + client + "/tested"},
		"response_type":         {"code"},
		"scope":                 {"openid"},
		"code_challenge":        {strings.Repeat("a", 43)},
		"code_challenge_method": {"S256"},
	}
	if page := s.Get("/oauth/" + client + "/authorize?" + asked.Encode()); page.Status != http.StatusBadRequest {
		t.Errorf("an application's request leads to the test's end: %d", page.Status)
	}
}

func TestTestLogin_failures(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newTestLoginSite(t, db)
	provider := s.Get(s.page).Find("#providers form[action$='/switch']").AttrOr("action", "")
	s.Post(strings.TrimSuffix(provider, "/switch"),
		"client_id", idp.ClientID, "client_secret", "canary-wrong",
		"client_token", "service", "upstream_token", "service", "enabled", "true", "label", "Acme ID",
	).LeadsTo(s.page + "#providers")
	page := s.Get(s.answered()).
		Says("main", "Acme ID didn't confirm this sign-in").
		Says("main", `400 "invalid_grant"`).
		Says("main a", "Go back to the dashboard")
	if strings.Contains(page.Raw, "canary-wrong") {
		t.Error("the secret is on the page")
	}
	back, _ := page.Find("main a").Attr("href")
	s.Get(s.here(back)).Shows(403, "Test login failed").Says("main", "access_denied")
}
