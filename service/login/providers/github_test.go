package providers_test

import (
	"net/http"
	"strings"
	"testing"

	"postern/platform/federation"
	"postern/service/login/providers"
	"postern/testkit"
	"postern/testkit/idp"
)

// hub is github.com, or a GitHub Enterprise server.
func hub(t *testing.T, enterprise bool) (*idp.GitHub, *stage) {
	t.Helper()
	fake := idp.StartGitHub(t)
	s := &stage{
		fake:   fake.Fake,
		set:    &providers.Set{HTTP: guarded(t), GitHubURL: fake.URL, GitHubAPI: fake.URL},
		config: configOf(providers.GitHub, ""),
	}
	if enterprise {
		s.set.GitHubURL, s.set.GitHubAPI = "https://never.example", "https://never.example"
		s.config.Issuer = fake.URL
	}
	return fake, s
}

func TestGitHub_accepted(t *testing.T) {
	for _, enterprise := range []bool{false, true} {
		fake, s := hub(t, enterprise)
		person, tokens, err := s.login(t)
		want := federation.Identity{
			Issuer:        fake.URL,
			Subject:       "583231",
			Email:         "octocat@github.example",
			EmailVerified: true,
			Name:          "The Octocat",
		}
		if err != nil || person != want || tokens.Access.Reveal() != fake.Access || tokens.ID != "" {
			t.Errorf("enterprise %v: %+v, %v", enterprise, person, err)
		}
		if enterprise && fake.Requests("/api/v3/user") != 1 {
			t.Error("a server of one's own was not asked below /api/v3")
		}
	}
}

// The address that counts is the primary one, once GitHub has verified it. One in
// the profile is whatever the person typed.
func TestGitHub_emails(t *testing.T) {
	tests := map[string][]map[string]any{
		"primary is not verified": {{"email": "a@example.com", "primary": true, "verified": false}},
		"verified is not primary": {{"email": "a@example.com", "primary": false, "verified": true}},
		"none":                    {},
		"not granted":             nil,
	}
	for name, emails := range tests {
		fake, s := hub(t, false)
		fake.Emails = emails
		person, _, err := s.login(t)
		if err != nil || person.Email != "" || person.EmailVerified || person.Subject != "583231" {
			t.Errorf("%s: %+v, %v", name, person, err)
		}
	}
}

func TestGitHub_subject(t *testing.T) {
	fake, s := hub(t, false)
	before, _, err := s.login(t)
	if err != nil {
		t.Fatal(err)
	}
	fake.User["login"] = "renamed"
	after, _, err := s.login(t)
	if err != nil || after.Subject != before.Subject {
		t.Errorf("renamed, it is %+v, %v", after, err)
	}
	fake.User["id"], fake.User["login"] = 2, "octocat"
	other, _, err := s.login(t)
	if err != nil || other.Subject == before.Subject {
		t.Errorf("somebody else under the old name is %+v, %v", other, err)
	}
}

func TestGitHub_refused(t *testing.T) {
	answering := func(path string, status int, body any) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != path {
				return false
			}
			idp.Answer(w, status, body)
			return true
		}
	}
	const token, user = "/login/oauth/access_token", "/user"
	tests := map[string]func(*idp.GitHub){
		"no user":              func(g *idp.GitHub) { g.User["id"] = 0 },
		"a negative id":        func(g *idp.GitHub) { g.User["id"] = -1 },
		"an id that is a text": func(g *idp.GitHub) { g.User["id"] = "583231" },
		"no id":                func(g *idp.GitHub) { delete(g.User, "id") },
		"a revoked token": func(g *idp.GitHub) {
			g.API = answering(user, 401, map[string]any{"message": "Bad credentials"})
		},
		"forbidden": func(g *idp.GitHub) {
			g.API = answering(user, 403, map[string]any{"message": "rate limit"})
		},
		"an error with status 200": func(g *idp.GitHub) {
			g.API = answering(token, 200, map[string]any{"error": "incorrect_client_credentials"})
		},
		"no token with status 200": func(g *idp.GitHub) {
			g.API = answering(token, 200, map[string]any{"token_type": "bearer"})
		},
		"the token endpoint is down": func(g *idp.GitHub) { g.API = answering(token, 502, map[string]any{}) },
		"the API is down":            func(g *idp.GitHub) { g.API = answering(user, 500, map[string]any{}) },
		"an answer of 2 MiB":         func(g *idp.GitHub) { g.User["bio"] = strings.Repeat("x", 2<<20) },
		"the answer is a list":       func(g *idp.GitHub) { g.API = answering(user, 200, []string{}) },
		"an error that holds the token": func(g *idp.GitHub) {
			g.API = answering(token, 400, map[string]any{"error": "x", "access_token": g.Access})
		},
		"an error description with token": func(g *idp.GitHub) {
			g.API = answering(token, 200, map[string]any{"error": "x", "error_description": g.Access})
		},
	}
	for name, lie := range testkit.ByName(tests) {
		t.Run(name, func(t *testing.T) {
			fake, s := hub(t, false)
			lie(fake)
			if person, _, err := s.login(t); err == nil {
				t.Errorf("taken for %+v", person)
			} else {
				refusedQuietly(t, s.fake, err)
			}
		})
	}
}

func TestGitHub_codeOnce(t *testing.T) {
	for _, where := range []string{"", "/user"} {
		fake, s := hub(t, false)
		if where != "" { // nothing is asked where a redirect leads
			fake.API = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == where {
					http.Redirect(w, r, fake.URL+"/elsewhere", http.StatusFound)
				}
				return r.URL.Path == where
			}
			if person, _, err := s.login(t); err == nil || fake.Requests("/elsewhere") > 0 {
				t.Errorf("followed to %+v", person)
			}
			continue
		}
		address, err := s.set.AuthorizeURL(t.Context(), s.config, sent)
		if err != nil {
			t.Fatal(err)
		}
		code := fake.Authorize(t, address).Query().Get("code")
		if _, _, err := s.set.Complete(t.Context(), s.config, sent, providers.Response{Code: code}); err != nil {
			t.Fatal(err)
		}
		for name, try := range map[string]providers.Response{
			"the code a second time": {Code: code},
			"another issuer's answer": {
				Code:   fake.Authorize(t, address).Query().Get("code"),
				Issuer: "https://evil.example",
			},
		} {
			if _, _, err := s.set.Complete(t.Context(), s.config, sent, try); err == nil {
				t.Errorf("%s is taken", name)
			} else {
				refusedQuietly(t, s.fake, err)
			}
		}
		other := sent
		other.Verifier += "x"
		answer := providers.Response{Code: fake.Authorize(t, address).Query().Get("code")}
		_, _, err = s.set.Complete(t.Context(), s.config, other, answer)
		if err == nil {
			t.Error("another verifier is taken")
		}
	}
}
