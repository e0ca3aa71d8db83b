package providers

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"golang.org/x/oauth2"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/platform/federation"
	"postern/service/login/tokencheck"
)

// github is github.com, or GitHub Enterprise Server at its own host; see federation.GitHub.
type github struct{ noIDTokens }

func (github) traits() Traits {
	return Traits{
		Label:       contract.ProviderTypeLabel(GitHub),
		Scopes:      []string{"read:user", "user:email"},
		NeedsSecret: true,
		TakesIssuer: true,
		Claims:      federation.GitHubClaims(),
	}
}

// server is github.com, or a GitHub Enterprise Server, whose API is below /api/v3
// (docs.github.com/enterprise-server/rest).
func (github) server(s *Set, c Config) federation.GitHub {
	if c.Issuer != "" {
		return federation.GitHub{Site: c.Issuer, API: c.Issuer + "/api/v3"}
	}
	return federation.GitHub{
		Site: cmp.Or(s.GitHubURL, "https://github.com"),
		API:  cmp.Or(s.GitHubAPI, "https://api.github.com"),
	}
}

func (g github) endpoint(_ context.Context, s *Set, c Config) (oauth2.Endpoint, error) {
	return g.server(s, c).Endpoint(), nil
}

// parameters: the only prompt is select_account, and login is its login_hint
// (docs.github.com/apps/oauth-apps/building-oauth-apps/
// authorizing-oauth-apps#1-request-a-users-github-identity).
func (github) parameters(r Request) []oauth2.AuthCodeOption {
	return parameters("prompt", r.Prompt.account(), "login", r.LoginHint)
}

func (g github) identify(ctx context.Context, s *Set, c Config, e exchange) (federation.Identity, error) {
	server := g.server(s, c)
	if err := server.CheckIssuer(e.iss, policy); err != nil {
		return federation.Identity{}, faultOf(c, err)
	}
	identity, err := s.relyingParty(c).IdentifyGitHub(ctx, server, e.token)
	if err != nil {
		return federation.Identity{}, faultOf(c, err)
	}
	return identity, nil
}

// prefixes are in docs.github.com/authentication/keeping-your-account-and-data-secure/
// about-authentication-to-github#githubs-token-formats: of OAuth apps, and of GitHub
// apps for a user. Personal access tokens belong to no app and are not taken.
func (github) prefixes() []string { return snapshot.OpaquePrefixes(GitHub) }

// ownerOfAccess returns the user of an access token (docs.github.com/rest/apps/
// oauth-applications#check-a-token). 404 means that the token is invalid or of another app.
func (g github) ownerOfAccess(ctx context.Context, s *Set, c Config, token string) (federation.Identity, error) {
	ask, err := tokencheck.Post(
		ctx, g.server(s, c).API+"/applications/"+url.PathEscape(c.ClientID)+"/token",
		map[string]string{"access_token": token},
	)
	if err != nil {
		return federation.Identity{}, err
	}
	ask.SetBasicAuth(c.ClientID, c.ClientSecret.Reveal())
	answer, err := tokencheck.Send(s.client(), ask)
	if err != nil {
		return federation.Identity{}, err
	}
	switch answer.Status {
	case http.StatusNotFound, http.StatusUnprocessableEntity:
		return federation.Identity{}, fmt.Errorf("the token is unknown or belongs to another app: "+
			"%w", tokencheck.ErrRefused)
	case http.StatusForbidden: // docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api
		return federation.Identity{}, fmt.Errorf("its rate limit is exceeded: %w", tokencheck.ErrUnavailable)
	}
	var found struct {
		App struct {
			ClientID string `json:"client_id"`
		} `json:"app"`
		User struct {
			ID int64 `json:"id"`
		} `json:"user"`
		ExpiresAt *time.Time `json:"expires_at"`
	}
	if err := answer.Read(&found); err != nil {
		return federation.Identity{}, err
	}
	switch {
	case found.App.ClientID != c.ClientID:
		return federation.Identity{}, fmt.Errorf("the token was issued for another app: %w", tokencheck.ErrRefused)
	case found.ExpiresAt != nil && !found.ExpiresAt.After(time.Now()):
		return federation.Identity{}, fmt.Errorf("the token has expired: %w", tokencheck.ErrRefused)
	case found.User.ID <= 0:
		return federation.Identity{}, fmt.Errorf("its response has no user: %w", tokencheck.ErrBadAnswer)
	}
	return federation.Identity{Issuer: g.server(s, c).Site, Subject: strconv.FormatInt(found.User.ID, 10)}, nil
}
