package federation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4/json"
	"golang.org/x/oauth2"

	"postern/platform/exactjson"
)

// GitHub has no claims. These are read from its lists of the user's organizations and teams.
// Names can change hands when an organization is renamed, ids cannot.
const (
	claimOrganizations   = "organizations" // logins
	claimOrganizationIDs = "organization_ids"
	claimTeams           = "teams" // login of the organization, a slash, and the team's slug
	claimTeamIDs         = "team_ids"
)

// GitHubClaims lists the claims of GitHub.
func GitHubClaims() []string {
	return []string{claimOrganizations, claimOrganizationIDs, claimTeams, claimTeamIDs}
}

// GitHubOrgScope is the scope that GitHub's claims need (docs.github.com/apps/oauth-apps/
// building-oauth-apps/scopes-for-oauth-apps#available-scopes).
const GitHubOrgScope = "read:org"

// GitHubScopes returns the scopes that are requested for a client: those configured, and
// GitHubOrgScope if the client reads claims that need it.
func GitHubScopes(configured []string, claims []ClaimPath) []string {
	needs := slices.ContainsFunc(claims, func(path ClaimPath) bool { return slices.Contains(GitHubClaims(), path[0]) })
	if !needs || includesOrgs(configured) {
		return configured
	}
	return append(slices.Clone(configured), GitHubOrgScope)
}

// includesOrgs reports whether scopes include GitHubOrgScope: GitHub grants a scope together
// with those that it includes, and lists the widest only ("Normalized scopes", same page).
func includesOrgs(scopes []string) bool {
	return slices.ContainsFunc(scopes, func(scope string) bool {
		return scope == GitHubOrgScope || scope == "write:org" || scope == "admin:org"
	})
}

// isScopeGap: GitHub separates scopes by commas, where RFC 6749, 3.3, has spaces.
func isScopeGap(r rune) bool { return r == ',' || r == ' ' }

// Bounds on GitHub's lists. A page of 50 teams is usually a tenth of maxResponse.
const (
	gitHubPages    = 20
	perGitHubPage  = 50
	gitHubPatience = 10 * time.Second // for all pages of a list
)

// gitHubEntry has the members of organizations and of teams that are read.
type gitHubEntry struct {
	ID           int64  `json:"id"`
	Login        string `json:"login"` // of an organization
	Slug         string `json:"slug"`  // of a team
	Organization struct {
		Login string `json:"login"`
	} `json:"organization"` // of a team
}

// gitHubList is one of GitHub's lists, and the claims that are read from it: names and ids.
// (docs.github.com/rest/orgs/orgs#list-organizations-for-the-authenticated-user and
// docs.github.com/rest/teams/teams#list-teams-for-the-authenticated-user)
type gitHubList struct {
	path, names, ids string
	name             func(gitHubEntry) string
}

func gitHubLists() []gitHubList {
	return []gitHubList{
		{"/user/orgs", claimOrganizations, claimOrganizationIDs, func(e gitHubEntry) string { return e.Login }},
		{"/user/teams", claimTeams, claimTeamIDs, func(e gitHubEntry) string {
			return e.Organization.Login + "/" + e.Slug
		}},
	}
}

// Why a list of GitHub's is not stated, or not whole.
var (
	errWithheld    = errors.New("the list is withheld")
	errUnavailable = errors.New("the list is unavailable")
)

// gitHubClaims returns the claims that the client reads, nil if it reads none. Failures that the user can cause count
// as withheld: a scope that was not granted, another refusal, and a list beyond the bounds. Failures that only GitHub
// can cause count as unavailable: no response, or one of status 500 and above. The error is about a rate limit: users
// can exceed theirs on purpose, and would then stay in groups.
func (c *Client) gitHubClaims(ctx context.Context, g GitHub, token *oauth2.Token) (*ClaimSet, error) {
	if !c.ReadsClaims() {
		return nil, nil
	}
	claims, out := map[string]any{}, ClaimSet{}
	for _, list := range gitHubLists() {
		if !c.readsList(list) {
			continue
		}
		entries, err := c.entriesOf(ctx, g, list, token)
		switch {
		case err == nil:
		case errors.Is(err, errWithheld):
			out.withheld = append(out.withheld, list.names, list.ids)
		case errors.Is(err, errUnavailable):
			out.unavailable = append(out.unavailable, list.names, list.ids)
			continue
		default:
			return nil, err
		}
		if err == nil || len(entries) > 0 {
			claims[list.names], claims[list.ids] = list.values(entries)
		}
	}
	out.sources = []map[string]any{claims}
	return &out, nil
}

// readsList reports whether the client reads a claim of the list. One that reads every claim
// reads the list if its scope is requested anyway.
func (c *Client) readsList(list gitHubList) bool {
	return c.AllClaims && includesOrgs(c.Scopes) || slices.ContainsFunc(c.Claims, func(path ClaimPath) bool {
		return path[0] == list.names || path[0] == list.ids
	})
}

// values returns names and ids of entries as claims.
func (l gitHubList) values(entries []gitHubEntry) (names, ids []any) {
	names, ids = []any{}, []any{}
	for _, entry := range entries {
		names, ids = append(names, l.name(entry)), append(ids, json.Number(strconv.FormatInt(entry.ID, 10)))
	}
	return names, ids
}

// entriesOf reads a list. With errWithheld there may be entries, but not all of them.
func (c *Client) entriesOf(
	ctx context.Context, g GitHub, list gitHubList, token *oauth2.Token,
) ([]gitHubEntry, error) {
	// Tokens of GitHub apps have permissions and no scopes.
	granted, _ := token.Extra("scope").(string)
	if granted != "" && !includesOrgs(strings.FieldsFunc(granted, isScopeGap)) {
		return nil, errWithheld
	}
	ctx, cancel := context.WithTimeout(ctx, gitHubPatience)
	defer cancel()
	var entries []gitHubEntry
	var partial bool
	for number := 1; number <= gitHubPages; number++ {
		page, err := c.gitHubPage(ctx, g, list.path, number, token)
		switch {
		case err != nil && number > 1 && isTimeout(ctx, err):
			return entries, errWithheld // users can make a list long
		case err != nil:
			return entries, err
		}
		entries, partial = append(entries, page.entries...), partial || page.partial
		switch {
		case !page.more && partial:
			return entries, errWithheld
		case !page.more:
			return entries, nil
		}
	}
	return entries, errWithheld
}

// gitHubListPage is a page of a list. It is partial without the organizations that enforce
// SAML single sign-on and in which the user has no session
// (docs.github.com/rest/overview/other-authentication-methods#authenticating-for-saml-sso).
type gitHubListPage struct {
	entries       []gitHubEntry
	more, partial bool
}

// gitHubPage reads a page of a list. The next page is asked for by its number: the Link field
// only states that there is one, because the token must not go where a response points
// (docs.github.com/rest/using-the-rest-api/using-pagination-in-the-rest-api).
func (c *Client) gitHubPage(
	ctx context.Context, g GitHub, path string, number int, token *oauth2.Token,
) (page gitHubListPage, err error) {
	address := fmt.Sprintf("%s%s?per_page=%d&page=%d", g.API, path, perGitHubPage, number)
	ask, err := c.newGitHubRequest(ctx, address, token)
	if err != nil {
		return page, err
	}
	response, err := c.HTTP.Do(ask) // customers' addresses go through a client of the egress guard
	if err != nil {
		return page, fmt.Errorf("%w: %w", errUnavailable, withoutURL(err))
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	switch {
	case err != nil:
		return page, fmt.Errorf("%w: %w", errUnavailable, err)
	case response.StatusCode >= http.StatusInternalServerError:
		return page, errUnavailable
	case isRateLimit(response):
		return page, fmt.Errorf("%s is beyond the user's rate limit", path)
	case response.StatusCode != http.StatusOK || len(body) >= maxResponse:
		return page, errWithheld
	}
	page.more = linksNext(response.Header)
	page.partial = strings.HasPrefix(response.Header.Get("X-Github-Sso"), "partial-results")
	if err := exactjson.Unmarshal(body, &page.entries); err != nil {
		return page, fmt.Errorf("%w: %w", errUnavailable, err)
	}
	return page, nil
}

// isTimeout reports whether the time of a context, or of a request in it, is over.
func isTimeout(ctx context.Context, err error) bool {
	failed, ok := errors.AsType[net.Error](err)
	return ctx.Err() != nil || ok && failed.Timeout()
}

// isRateLimit reports whether a response is about a rate limit (docs.github.com/rest/
// using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit).
func isRateLimit(response *http.Response) bool {
	return response.StatusCode == http.StatusTooManyRequests || response.StatusCode == http.StatusForbidden &&
		(response.Header.Get("X-Ratelimit-Remaining") == "0" || response.Header.Get("Retry-After") != "")
}

// linksNext reports whether a Link field has the relation next (RFC 8288, 3).
func linksNext(header http.Header) bool {
	return slices.ContainsFunc(header.Values("Link"), func(links string) bool {
		return strings.Contains(links, `rel="next"`)
	})
}
