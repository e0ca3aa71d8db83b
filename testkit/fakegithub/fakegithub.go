// Package fakegithub gives tests what GitHub answers to a login of an OAuth app.
//
// It owns GitHub's ways, which are not OpenID Connect: errors of the token endpoint
// come with status 200 (docs.github.com/apps/oauth-apps/maintaining-oauth-apps/
// troubleshooting-oauth-app-access-token-request-errors), the person is asked of
// the API with a User-Agent (docs.github.com/rest/using-the-rest-api/
// getting-started-with-the-rest-api#user-agent), /user has the public address or
// null, /user/emails the list with primary and verified
// (docs.github.com/rest/users/emails); an app asks about a token of its own with its
// id and secret, and is answered 404 for any other
// (docs.github.com/rest/apps/oauth-applications#check-a-token); tokens of OAuth apps
// begin with gho_ (docs.github.com/authentication/keeping-your-account-and-data-secure/
// about-authentication-to-github#githubs-token-formats). It does not own codes
// (fakeoidc).
package fakegithub

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"postern/testkit/fakeoidc"
)

// GitHub is a running one.
type GitHub struct {
	*fakeoidc.Provider
	User   map[string]any
	Emails []map[string]any // nil: the token does not reach them, which is 404
	Check  map[string]any   // what it says of the token to its app
	API    func(w http.ResponseWriter, r *http.Request) bool
}

// Start runs it until the test ends.
func Start(t testing.TB) *GitHub {
	t.Helper()
	g := &GitHub{Provider: fakeoidc.Start(t),
		User: map[string]any{"id": 583231, "login": "octocat", "name": "The Octocat", "email": "public@example.com"},
		Emails: []map[string]any{
			{"email": "old@example.com", "primary": false, "verified": true},
			{"email": "Octocat@GitHub.example", "primary": true, "verified": true},
		}}
	g.Access = "gho_canary" + g.Access[len("canary-access-"):]
	g.Check = map[string]any{
		"id":               1,
		"token_last_eight": g.Access[len(g.Access)-8:],
		"app":              map[string]any{"name": "app", "client_id": fakeoidc.ClientID},
		"user":             g.User,
		"scopes":           []string{"read:user"},
		"expires_at":       nil,
	}
	g.Serve = g.serve
	return g
}

func (g *GitHub) serve(w http.ResponseWriter, r *http.Request) bool {
	if g.API != nil && g.API(w, r) {
		return true
	}
	// A server of one's own has its API below /api/v3.
	switch path := strings.TrimPrefix(r.URL.Path, "/api/v3"); path {
	case "/login/oauth/access_token":
		g.token(w, r)
	case "/user", "/user/emails":
		g.api(w, r, path)
	case "/applications/" + fakeoidc.ClientID + "/token":
		g.check(w, r)
	default:
		return false
	}
	return true
}

func (g *GitHub) token(w http.ResponseWriter, r *http.Request) {
	if _, ok := g.Redeem(r); !ok {
		fakeoidc.Answer(w, http.StatusOK, map[string]any{
			"error":             "bad_verification_code",
			"error_description": "The code passed is incorrect or expired.",
		})
		return
	}
	fakeoidc.Answer(w, http.StatusOK, map[string]any{
		"access_token": g.Access,
		"token_type":   "bearer",
		"scope":        "read:user,user:email",
	})
}

func (g *GitHub) api(w http.ResponseWriter, r *http.Request, path string) {
	switch {
	case r.Header.Get("User-Agent") == "":
		http.Error(w, "Request forbidden by administrative rules.", http.StatusForbidden)
	case r.Header.Get("Authorization") != "Bearer "+g.Access:
		fakeoidc.Answer(w, http.StatusUnauthorized, map[string]any{"message": "Bad credentials"})
	case path == "/user":
		fakeoidc.Answer(w, http.StatusOK, g.User)
	case g.Emails == nil:
		fakeoidc.Answer(w, http.StatusNotFound, map[string]any{"message": "Not Found"})
	default:
		fakeoidc.Answer(w, http.StatusOK, g.Emails)
	}
}

func (g *GitHub) check(w http.ResponseWriter, r *http.Request) {
	var sent struct {
		Token string `json:"access_token"`
	}
	name, secret, _ := r.BasicAuth()
	switch {
	case name != fakeoidc.ClientID || secret != fakeoidc.ClientSecret:
		fakeoidc.Answer(w, http.StatusUnauthorized, map[string]any{"message": "Bad credentials"})
	case r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&sent) != nil || sent.Token == "":
		fakeoidc.Answer(w, http.StatusUnprocessableEntity, map[string]any{"message": "Validation Failed"})
	case sent.Token != g.Access:
		fakeoidc.Answer(w, http.StatusNotFound, map[string]any{"message": "Not Found"})
	default:
		fakeoidc.Answer(w, http.StatusOK, g.Check)
	}
}
