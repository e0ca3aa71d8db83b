package idp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// GitHub answers as GitHub does to a login of an OAuth app, which is not OpenID Connect: errors of the token endpoint
// come with status 200
// (docs.github.com/apps/oauth-apps/maintaining-oauth-apps/troubleshooting-oauth-app-access-token-request-errors), the
// person is asked of the API with a User-Agent
// (docs.github.com/rest/using-the-rest-api/getting-started-with-the-rest-api#user-agent), /user has the public address
// or null, /user/emails the list with primary and verified (docs.github.com/rest/users/emails). An app asks about its
// own token with its id and secret, and gets 404 for any other
// (docs.github.com/rest/apps/oauth-applications#check-a-token). Tokens of OAuth apps begin with gho_
// (docs.github.com/authentication/keeping-your-account-and-data-secure/
// about-authentication-to-github#githubs-token-formats). The token endpoint states the scopes that the token has, with
// commas (docs.github.com/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps#response). /user/orgs and
// /user/teams need read:org or a wider scope, and get 403 without
// (docs.github.com/rest/orgs/orgs#list-organizations-for-the-authenticated-user,
// docs.github.com/rest/teams/teams#list-teams-for-the-authenticated-user). They come in pages, with a Link field to the
// next one (docs.github.com/rest/using-the-rest-api/using-pagination-in-the-rest-api).
type GitHub struct {
	*Fake
	User   map[string]any
	Emails []map[string]any // nil: the token does not reach them, which is 404
	Orgs   []map[string]any // see GitHubOrg
	Teams  []map[string]any // see GitHubTeam
	Grants *string          // scopes of the token, with commas; nil: those requested
	Check  map[string]any   // what it says of the token to its app
	API    func(w http.ResponseWriter, r *http.Request) bool

	granted string
}

// GitHubOrg is an organization in the form of /user/orgs, without its addresses.
func GitHubOrg(id int, login string) map[string]any {
	return map[string]any{"id": id, "login": login, "description": nil}
}

// GitHubTeam is a team in the form of /user/teams, without its addresses.
func GitHubTeam(id int, org, slug string) map[string]any {
	return map[string]any{
		"id":           id,
		"name":         "The " + slug,
		"slug":         slug,
		"parent":       nil,
		"organization": map[string]any{"id": 1, "login": org},
	}
}

// StartGitHub runs a GitHub until the test ends.
func StartGitHub(t testing.TB) *GitHub {
	t.Helper()
	g := &GitHub{Fake: StartFake(t),
		User: map[string]any{"id": 583231, "login": "octocat", "name": "The Octocat", "email": "public@example.com"},
		Emails: []map[string]any{
			{"email": "old@example.com", "primary": false, "verified": true},
			{"email": "Octocat@GitHub.example", "primary": true, "verified": true},
		}}
	g.Access = "gho_canary" + g.Access[len("canary-access-"):]
	g.Check = map[string]any{
		"id":               1,
		"token_last_eight": g.Access[len(g.Access)-8:],
		"app":              map[string]any{"name": "app", "client_id": ClientID},
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
	// GitHub Enterprise Server has its API below /api/v3.
	switch path := strings.TrimPrefix(r.URL.Path, "/api/v3"); path {
	case "/login/oauth/access_token":
		g.token(w, r)
	case "/user", "/user/emails", "/user/orgs", "/user/teams":
		g.api(w, r, path)
	case "/applications/" + ClientID + "/token":
		g.check(w, r)
	default:
		return false
	}
	return true
}

func (g *GitHub) token(w http.ResponseWriter, r *http.Request) {
	request, ok := g.Redeem(r)
	if !ok {
		Answer(w, http.StatusOK, map[string]any{
			"error":             "bad_verification_code",
			"error_description": "The code passed is incorrect or expired.",
		})
		return
	}
	g.granted = strings.ReplaceAll(request.Get("scope"), " ", ",")
	if g.Grants != nil {
		g.granted = *g.Grants
	}
	Answer(w, http.StatusOK, map[string]any{
		"access_token": g.Access,
		"token_type":   "bearer",
		"scope":        g.granted,
	})
}

func (g *GitHub) api(w http.ResponseWriter, r *http.Request, path string) {
	switch {
	case r.Header.Get("User-Agent") == "":
		http.Error(w, "Request forbidden by administrative rules.", http.StatusForbidden)
	case r.Header.Get("Authorization") != "Bearer "+g.Access:
		Answer(w, http.StatusUnauthorized, map[string]any{"message": "Bad credentials"})
	case path == "/user":
		Answer(w, http.StatusOK, g.User)
	case path == "/user/orgs":
		g.list(w, r, g.Orgs)
	case path == "/user/teams":
		g.list(w, r, g.Teams)
	case g.Emails == nil:
		Answer(w, http.StatusNotFound, map[string]any{"message": "Not Found"})
	default:
		Answer(w, http.StatusOK, g.Emails)
	}
}

// list answers with a page of a list: 30 entries by default, 100 at most.
func (g *GitHub) list(w http.ResponseWriter, r *http.Request, all []map[string]any) {
	if !strings.Contains(g.granted, ":org") {
		Answer(w, http.StatusForbidden, map[string]any{"message": "Resource not accessible"})
		return
	}
	size, page := number(r, "per_page", 30), number(r, "page", 1)
	from := min((page-1)*min(size, 100), len(all))
	to := min(from+min(size, 100), len(all))
	if to < len(all) {
		w.Header().Set("Link", fmt.Sprintf(
			`<%s%s?per_page=%d&page=%d>; rel="next", <%s%s?page=99>; rel="last"`,
			g.URL, r.URL.Path, size, page+1, g.URL, r.URL.Path,
		))
	}
	Answer(w, http.StatusOK, append([]map[string]any{}, all[from:to]...))
}

func number(r *http.Request, name string, otherwise int) int {
	if got, err := strconv.Atoi(r.URL.Query().Get(name)); err == nil && got > 0 {
		return got
	}
	return otherwise
}

func (g *GitHub) check(w http.ResponseWriter, r *http.Request) {
	var sent struct {
		Token string `json:"access_token"`
	}
	name, secret, _ := r.BasicAuth()
	switch {
	case name != ClientID || secret != ClientSecret:
		Answer(w, http.StatusUnauthorized, map[string]any{"message": "Bad credentials"})
	case r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&sent) != nil || sent.Token == "":
		Answer(w, http.StatusUnprocessableEntity, map[string]any{"message": "Validation Failed"})
	case sent.Token != g.Access:
		Answer(w, http.StatusNotFound, map[string]any{"message": "Not Found"})
	default:
		Answer(w, http.StatusOK, g.Check)
	}
}
