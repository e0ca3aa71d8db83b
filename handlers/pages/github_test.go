package pages_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"postern/handlers"
	"postern/models"
	"postern/platform/config"
	"postern/service/accounts/federated"
	"postern/testkit"
	"postern/testkit/controlplane"
	"postern/testkit/idp"
	"postern/testkit/state"
)

// hub is a site whose people can also sign in with GitHub.
type hub struct {
	*controlplane.Browser
	github *idp.GitHub
}

func newHub(t *testing.T, db *models.DB) *hub {
	t.Helper()
	return newHubOf(t, db, controlplane.NewOwner)
}

// newHubOf is newHub with a browser that open opens, such as controlplane.NewBrowser.
func newHubOf(
	t *testing.T,
	db *models.DB,
	open func(*testing.T, *models.DB, ...func(*handlers.Server)) *controlplane.Browser,
) *hub {
	t.Helper()
	github := idp.StartGitHub(t)
	return &hub{open(t, db, func(s *handlers.Server) {
		s.Providers = federated.FromConfig(config.SignIn{GitHub: config.GitHub{
			ClientID:     idp.ClientID,
			ClientSecret: idp.ClientSecret,
			URL:          github.URL,
			APIURL:       github.URL + "/api/v3",
		}})
	}), github}
}

const octocat = "octocat@github.example" // as the fake says, in lowercase

// back begins at a form and returns where GitHub sends the person back to.
func (h *hub) back(form string, fields ...string) *url.URL {
	h.T.Helper()
	to := h.Post(form, fields...).Shows(200, "Going to GitHub").Find("a[data-leave]").AttrOr("href", "")
	asked, err := url.Parse(to)
	if err != nil || !strings.HasPrefix(to, h.github.URL+"/login/oauth/authorize?") {
		h.T.Fatalf("leads to %q, %v", to, err)
	}
	q := asked.Query()
	if got := q.Get("code_challenge_method"); got != "S256" {
		h.T.Fatalf("code_challenge_method is %q, want S256", got)
	}
	if got := q.Get("scope"); got != "read:user user:email" {
		h.T.Fatalf("scope is %q, want read:user user:email", got)
	}
	if q.Get("state") == "" {
		h.T.Fatal("the request has no state")
	}
	return h.github.Authorize(h.T, to)
}

func (h *hub) away(form string, fields ...string) string {
	h.T.Helper()
	return h.back(form, fields...).RequestURI()
}

func TestGitHub_signIn(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	h := newHub(t, db)
	h.Post("/signout").LeadsTo("/signin")
	h.Get("/signin").Shows(200, "Sign in").Says("main", "Continue with GitHub")
	h.Get(h.away("/signin/github")).Shows(403, "Sign in").Says("[role=alert]", "invitation")

	h.Server.Accounts.Policy = config.SignUpOpen
	first := h.away("/signin/github", "next", "/projects/new")
	h.Get(first).LeadsTo("/projects/new")
	h.Get("/projects").Shows(200, "Projects").Says("#account-menu", octocat)
	h.Post("/signout").LeadsTo("/signin")
	h.Get(first).Shows(401, "Sign in").Says("[role=alert]", "has expired") // the answer a second time

	// GitHub knows people by number: names and addresses change.
	h.github.User["login"], h.github.Emails[1]["email"] = "hubot", "hubot@github.example"
	h.Get(h.away("/signin/github")).LeadsTo("/projects")
	h.Get("/projects").Says("#account-menu", octocat)
	page := h.Get("/account/signins").Shows(200, "Your account").Says("main", "hubot@github.example")
	h.Post(page.Find("form[action$='/unlink']").AttrOr("action", "")).
		Shows(409, "Your account").
		Says("[role=alert]", "only way")
	h.Post("/signout").LeadsTo("/signin")
	h.Get(h.away("/signin/github")).LeadsTo("/projects")
}

func TestGitHubCallback_unverifiedEmail(t *testing.T) {
	t.Parallel()
	broken := func(path string, status int, body any) func(*hub) {
		return func(h *hub) {
			h.github.API = func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.HasSuffix(r.URL.Path, path) {
					return false
				}
				idp.Answer(w, status, body)
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
		"the primary address is not verified": {
			func(h *hub) { h.github.Emails[1]["verified"] = false }, nil, 403, "Verify it there",
		},
		"no address is primary": {
			func(h *hub) { h.github.Emails = h.github.Emails[:1] }, nil, 403, "Verify it there",
		},
		"the address of somebody here": {
			func(h *hub) { h.github.Emails[1]["email"] = "ANA@example.com" }, nil, 409, "Linked sign-ins",
		},
		"no reach to the addresses": {func(h *hub) { h.github.Emails = nil }, nil, 401, "failed. Try again"},
		"a user without a number":   {func(h *hub) { delete(h.github.User, "id") }, nil, 401, "failed. Try again"},
		"a user, not a JSON object": {broken("/user", 200, "octocat"), nil, 401, "failed. Try again"},
		"GitHub is broken":          {broken("/user", 502, map[string]any{}), nil, 401, "failed. Try again"},
		"an error with status 200": {
			broken("/access_token", 200, map[string]any{"error": "incorrect_client_credentials"}), nil, 401,
			"failed. Try again",
		},
		"another code": {nil, func(q url.Values) { q.Set("code", "guess") }, 401, "failed. Try again"},
		"no code":      {nil, func(q url.Values) { q.Del("code") }, 401, "failed. Try again"},
		"the person said no": {
			nil, func(q url.Values) { q.Del("code"); q.Set("error", "access_denied") }, 401,
			"You didn't finish signing in with GitHub",
		},
		"another error": {
			nil, func(q url.Values) { q.Del("code"); q.Set("error", "redirect_uri_mismatch") }, 401,
			"failed. Try again",
		},
		"another issuer": {
			nil, func(q url.Values) { q.Set("iss", "https://evil.example") }, 401, "failed. Try again",
		},
	}
	db := state.OpenSQLite(t)
	newHub(t, db)
	for name, tt := range testkit.ByName(tests) {
		h := newHubOf(t, db, controlplane.NewBrowser)
		h.Server.Accounts.Policy = config.SignUpOpen
		if tt.prepare != nil {
			tt.prepare(h)
		}
		back := h.back("/signin/github")
		query := back.Query()
		if tt.change != nil {
			tt.change(query)
		}
		got := h.Get(back.Path + "?" + query.Encode())
		if alert := controlplane.Clean(got.Find("[role=alert]").Text()); got.Status != tt.status ||
			!strings.Contains(alert, tt.says) {
			t.Errorf("%s: %d %q", name, got.Status, alert)
		}
		if strings.Contains(got.Raw, h.github.Access) {
			t.Errorf("%s: the page shows GitHub's token", name)
		}
		h.Get("/projects").LeadsTo("/signin")
	}
}

func TestGitHubCallback_otherAnswers(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	h := newHub(t, db)
	h.Server.Accounts.Policy = config.SignUpOpen
	h.ClearCookies()
	back := h.back("/signin/github")
	for name, change := range testkit.ByName(map[string]func(url.Values){
		"no state":      func(q url.Values) { q.Del("state") },
		"another state": func(q url.Values) { q.Set("state", "x") },
	}) {
		query := back.Query()
		change(query)
		if got := h.Get(back.Path + "?" + query.Encode()); got.Status != 401 {
			t.Errorf("%s: %d", name, got.Status)
		}
	}
	if asked := h.github.Requests("/login/oauth/access_token"); asked != 0 {
		t.Errorf("redeemed %d codes for answers that were not requested", asked)
	}
	h.ClearCookies()
	h.Get(back.RequestURI()).Shows(401, "Sign in").Says("[role=alert]", "another browser")
	h.back("/signin/github") // with its own attempt
	h.Get(back.RequestURI()).Shows(401, "Sign in")
}

func TestGitHub_link(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		h := newHub(t, db)
		h.github.Emails[1]["email"] = "ana@example.com"
		before := sessionOf(t, h.Browser).Value
		h.Get(h.away("/account/signins/link/github")).LeadsTo("/account/signins")
		if sessionOf(t, h.Browser).Value == before {
			t.Error("linking kept the session's secret")
		}
		h.Get("/account/signins").Shows(200, "Your account").Says("main", "ana@example.com").Says("main", "Unlink").
			Lacks("form[action='/account/signins/link/github']")
		h.Get(h.away("/account/signins/link/github")).
			Shows(409, "Your account").
			Says("[role=alert]", "already linked to an account")

		h.Post("/signout").LeadsTo("/signin")
		h.Get(h.away("/signin/github")).LeadsTo("/projects") // the account that it is linked to
		page := h.Get("/account/signins").Shows(200, "Your account")
		h.Post(page.Find("form[action$='/unlink']").AttrOr("action", ""), "confirm", "true").
			LeadsTo("/account/signins") // the password is left
		h.Post("/signout").LeadsTo("/signin")
		h.Get(h.away("/signin/github")).Shows(409, "Sign in").Says("[role=alert]", "Linked sign-ins")
	})
}
