package handlers_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"postern/models"
	"postern/platform/config"
	"postern/service/accounts/provider"
	"postern/testkit/fakegithub"
	"postern/testkit/fakeoidc"
	"postern/testkit/state"
)

// hub is a site whose people can also sign in with GitHub.
type hub struct {
	*site
	github *fakegithub.GitHub
}

func newHub(t *testing.T, s *site) *hub {
	t.Helper()
	github := fakegithub.Start(t)
	s.server.Providers = provider.FromConfig(config.SignIn{GitHub: config.GitHub{ClientID: fakeoidc.ClientID, ClientSecret: fakeoidc.ClientSecret,
		URL: github.URL, APIURL: github.URL + "/api/v3"}})
	return &hub{s, github}
}

const octocat = "octocat@github.example" // as the fake says, in small letters

// back begins at a form and returns where GitHub sends the person back to.
func (h *hub) back(form string, fields ...string) *url.URL {
	h.t.Helper()
	to := h.post(form, fields...).is(200, "Going to GitHub").Find("a[data-leave]").AttrOr("href", "")
	asked, err := url.Parse(to)
	if err != nil || !strings.HasPrefix(to, h.github.URL+"/login/oauth/authorize?") || asked.Query().Get("code_challenge_method") != "S256" ||
		asked.Query().Get("scope") != "read:user user:email" || asked.Query().Get("state") == "" {
		h.t.Fatalf("leads to %q, %v", to, err)
	}
	return h.github.Authorize(h.t, to)
}

func (h *hub) away(form string, fields ...string) string {
	h.t.Helper()
	return h.back(form, fields...).RequestURI()
}

func TestSigningInWithGitHub(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		h := newHub(t, newOwner(t, db))
		h.post("/signout").leadsTo("/signin")
		h.get("/signin").is(200, "Sign in").says("main", "Continue with GitHub")
		h.get(h.away("/signin/github")).is(403, "Sign in").says("[role=alert]", "invitation")

		h.server.Accounts.Policy = config.SignUpOpen
		first := h.away("/signin/github", "next", "/projects/new")
		h.get(first).leadsTo("/projects/new")
		h.get("/projects").is(200, "Projects").says("#account-menu", octocat)
		h.post("/signout").leadsTo("/signin")
		h.get(first).is(401, "Sign in").says("[role=alert]", "is over") // the answer a second time

		// GitHub knows people by number: names and addresses change.
		h.github.User["login"], h.github.Emails[1]["email"] = "hubot", "hubot@github.example"
		h.get(h.away("/signin/github")).leadsTo("/projects")
		h.get("/projects").says("#account-menu", octocat)
		page := h.get("/account/signins").is(200, "Your account").says("main", "hubot@github.example")
		h.post(page.Find("form[action$='/unlink']").AttrOr("action", "")).is(409, "Your account").says("[role=alert]", "only way")
		h.post("/signout").leadsTo("/signin")
		h.get(h.away("/signin/github")).leadsTo("/projects")
	})
}

func TestWhatGitHubDoesNotVouchForMakesNoAccount(t *testing.T) {
	broken := func(path string, status int, body any) func(*hub) {
		return func(h *hub) {
			h.github.API = func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.HasSuffix(r.URL.Path, path) {
					return false
				}
				fakeoidc.Answer(w, status, body)
				return true
			}
		}
	}
	tests := map[string]struct {
		prepare func(*hub)
		change  func(url.Values)
		status  int
		says    string
	}{
		"the primary address is not verified": {func(h *hub) { h.github.Emails[1]["verified"] = false }, nil, 403, "Verify it there"},
		"no address is primary":               {func(h *hub) { h.github.Emails = h.github.Emails[:1] }, nil, 403, "Verify it there"},
		"the address of somebody here":        {func(h *hub) { h.github.Emails[1]["email"] = "ANA@example.com" }, nil, 409, "Linked sign-ins"},
		"no reach to the addresses":           {func(h *hub) { h.github.Emails = nil }, nil, 401, "did not work out"},
		"a user without a number":             {func(h *hub) { delete(h.github.User, "id") }, nil, 401, "did not work out"},
		"a user that is no JSON object":       {broken("/user", 200, "octocat"), nil, 401, "did not work out"},
		"GitHub is broken":                    {broken("/user", 502, map[string]any{}), nil, 401, "did not work out"},
		"an error with status 200": {broken("/access_token", 200, map[string]any{"error": "incorrect_client_credentials"}),
			nil, 401, "did not work out"},
		"another code":       {nil, func(q url.Values) { q.Set("code", "guess") }, 401, "did not work out"},
		"no code":            {nil, func(q url.Values) { q.Del("code") }, 401, "did not work out"},
		"the person said no": {nil, func(q url.Values) { q.Del("code"); q.Set("error", "access_denied") }, 401, "You did not sign in with GitHub"},
		"another error":      {nil, func(q url.Values) { q.Del("code"); q.Set("error", "redirect_uri_mismatch") }, 401, "did not work out"},
		"another issuer":     {nil, func(q url.Values) { q.Set("iss", "https://evil.example") }, 401, "did not work out"},
	}
	state.Each(t, func(t *testing.T, db *models.DB) {
		h := newHub(t, newOwner(t, db))
		h.server.Accounts.Policy = config.SignUpOpen
		for name, tt := range tests {
			h = newHub(t, h.site)
			h.forget() // each in a browser of its own
			if tt.prepare != nil {
				tt.prepare(h)
			}
			back := h.back("/signin/github")
			query := back.Query()
			if tt.change != nil {
				tt.change(query)
			}
			got := h.get(back.Path + "?" + query.Encode())
			if alert := clean(got.Find("[role=alert]").Text()); got.status != tt.status || !strings.Contains(alert, tt.says) {
				t.Errorf("%s: %d %q", name, got.status, alert)
			}
			if strings.Contains(got.raw, h.github.Access) {
				t.Errorf("%s: the page shows GitHub's token", name)
			}
			h.get("/projects").leadsTo("/signin")
		}
	})
}

func TestAnswersOfGitHubForOthersAreRefused(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		h := newHub(t, newOwner(t, db))
		h.server.Accounts.Policy = config.SignUpOpen
		h.forget()
		back := h.back("/signin/github")
		for name, change := range map[string]func(url.Values){
			"no state":      func(q url.Values) { q.Del("state") },
			"another state": func(q url.Values) { q.Set("state", "x") },
		} {
			query := back.Query()
			change(query)
			if got := h.get(back.Path + "?" + query.Encode()); got.status != 401 {
				t.Errorf("%s: %d", name, got.status)
			}
		}
		if asked := h.github.Asked("/login/oauth/access_token"); asked != 0 {
			t.Errorf("redeemed %d codes for answers that nobody asked for", asked)
		}
		h.forget()
		h.get(back.RequestURI()).is(401, "Sign in").says("[role=alert]", "another browser")
		h.back("/signin/github") // with an attempt of its own
		h.get(back.RequestURI()).is(401, "Sign in")
	})
}

func TestLinkingGitHub(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		h := newHub(t, newOwner(t, db))
		h.github.Emails[1]["email"] = "ana@example.com"
		before := sessionOf(t, h.site).Value
		h.get(h.away("/account/signins/link/github")).leadsTo("/account/signins")
		if sessionOf(t, h.site).Value == before {
			t.Error("linking kept the session's secret")
		}
		h.get("/account/signins").is(200, "Your account").says("main", "ana@example.com").says("main", "Unlink").
			lacks("form[action='/account/signins/link/github']")
		h.get(h.away("/account/signins/link/github")).is(409, "Your account").says("[role=alert]", "linked with an account already")

		h.post("/signout").leadsTo("/signin")
		h.get(h.away("/signin/github")).leadsTo("/projects") // the account that has it linked
		page := h.get("/account/signins").is(200, "Your account")
		h.post(page.Find("form[action$='/unlink']").AttrOr("action", "")).leadsTo("/account/signins") // the password is left
		h.post("/signout").leadsTo("/signin")
		h.get(h.away("/signin/github")).is(409, "Sign in").says("[role=alert]", "Linked sign-ins")
	})
}
