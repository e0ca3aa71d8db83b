package handlers_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"postern/models"
	"postern/testkit/fakeoidc"
	"postern/testkit/state"
)

// trialSite is an owner with an app client that offers a fake provider.
type trialSite struct {
	*site
	fake *fakeoidc.Provider
	page string // of the app client
}

func newTrialSite(t *testing.T, db *models.DB) *trialSite {
	t.Helper()
	s, tab := newLoginTab(t, db)
	s.server.Config.PublicURL, s.server.Login.PublicURL = s.url, s.url
	out := &trialSite{site: s, fake: fakeoidc.Start(t), page: s.makeWeb(tab)}
	provider := s.post(out.page+"/providers", "type", "oidc", "issuer", out.fake.Issuer).location()
	s.post(provider, "client_id", fakeoidc.ClientID, "client_secret", fakeoidc.ClientSecret, "tokens", "service/service", "enabled", "true").leadsTo(out.page + "#providers")
	return out
}

// here is the path of an address of the site.
func (s *trialSite) here(address string) string {
	s.t.Helper()
	path, ok := strings.CutPrefix(address, s.url)
	if !ok {
		s.t.Fatalf("%q is elsewhere", address)
	}
	return path
}

// answered is the callback of a test login that somebody went through at the provider.
func (s *trialSite) answered() string {
	s.t.Helper()
	choice := s.get(s.post(s.page+"/test").location()).is(200, "Sign in to web").says("main", "A test login")
	chosen := s.get(choice.Find("a[data-provider]").AttrOr("href", ""))
	return s.here(s.fake.Authorize(s.t, chosen.header.Get("Location")).String())
}

// tested is the page where it ends, agreeing where that is asked.
func (s *trialSite) tested() string {
	s.t.Helper()
	page := s.get(s.answered())
	if page.status == http.StatusOK {
		action := page.Find("form").AttrOr("action", "")
		form := []string{"answer", "agree"}
		for _, name := range []string{"attempt", "ticket"} {
			form = append(form, name, page.Find("[name="+name+"]").AttrOr("value", ""))
		}
		page = s.post(action, form...)
	}
	return s.here(page.header.Get("Location"))
}

// tokenForm is that of a JWT's head or claims (RFC 7519, 3): JSON in base64url. Random
// values, at_hash and nonce among them, can hold its beginning, and are shorter.
var tokenForm = regexp.MustCompile(`eyJ[\w-]{43,}`)

func TestALoginIsTriedOutFromTheDashboard(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newTrialSite(t, db)
		end := s.tested()
		page := s.get(end).is(200, "The login of web works").says("[aria-labelledby=id-token]", `"ana@example.com"`).says("[aria-labelledby=access-token]", "tenant")
		// Neither token of ours has the form of one on the page, and the code is used up.
		if code := asked(end).Get("code"); tokenForm.MatchString(page.raw) || strings.Contains(page.raw, code) {
			t.Error("a token or the code is on the page")
		}
		s.get(end).is(403, "No user was signed in")
		var live int
		if err := db.SQL().QueryRowContext(t.Context(), "SELECT count(*) FROM login_sessions WHERE ended_at IS NULL").Scan(&live); err != nil || live != 0 {
			t.Errorf("%d sessions go on, %v", live, err)
		}
	})
}

func asked(path string) url.Values {
	u, err := url.Parse(path)
	if err != nil {
		return nil
	}
	return u.Query()
}

// What a test login ends with is for the account and the browser that began it, and
// nobody gets its code at the token endpoint.
func TestATestLoginIsBoundToWhoBeganIt(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newTrialSite(t, db)
		end := s.tested()
		q, client := asked(end), strings.Split(end, "/")[2]
		answer := s.post("/oauth/"+client+"/token", "grant_type", "authorization_code", "client_id", client, "code", q.Get("code"), "redirect_uri", s.url+strings.Split(end, "?")[0], "code_verifier", strings.Repeat("a", 43))
		if answer.status != http.StatusBadRequest {
			t.Errorf("the token endpoint answers the code with %d", answer.status)
		}
		jar := s.client.Jar
		s.forget()
		s.get(end).leadsTo("/signin")
		s.post("/signin", "email", "ana@example.com", "password", password)
		s.get(end).is(403, "No user was signed in") // the same account elsewhere
		s.client.Jar = jar
		s.get(strings.Replace(end, "state=lgn_", "state=lgn_x", 1)).is(403, "No user was signed in")
		s.get(end).is(200, "The login of web works")
		asked := url.Values{"client_id": {client}, "redirect_uri": {s.url + "/oauth/" + client + "/tested"}, "response_type": {"code"}, "scope": {"openid"},
			"code_challenge": {strings.Repeat("a", 43)}, "code_challenge_method": {"S256"}}
		if page := s.get("/oauth/" + client + "/authorize?" + asked.Encode()); page.status != http.StatusBadRequest {
			t.Errorf("an application's request leads to the test's end: %d", page.status)
		}
	})
}

func TestATestLoginSaysWhatIsWrong(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newTrialSite(t, db)
		provider := s.get(s.page).Find("#providers form[action$='/switch']").AttrOr("action", "")
		s.post(strings.TrimSuffix(provider, "/switch"), "client_id", fakeoidc.ClientID, "client_secret", "canary-wrong", "tokens", "service/service", "enabled", "true").leadsTo(s.page + "#providers")
		page := s.get(s.answered()).says("main", "did not confirm this sign-in").says("main", `400 "invalid_grant"`).says("main a", "Go back to the dashboard")
		if strings.Contains(page.raw, "canary-wrong") {
			t.Error("the secret is on the page")
		}
		back, _ := page.Find("main a").Attr("href")
		s.get(s.here(back)).is(403, "No user was signed in").says("main", "access_denied")
	})
}
