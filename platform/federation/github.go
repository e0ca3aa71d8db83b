package federation

import (
	"cmp"
	"context"
	"net/http"
	"strconv"

	"golang.org/x/oauth2"
)

// GitHub is github.com or a GitHub Enterprise Server. It has no ID tokens; its REST API
// returns the owner of an access token (docs.github.com, "Authorizing OAuth apps", "Get
// the authenticated user" and "List email addresses for the authenticated user").
// Addresses have no trailing slash.
type GitHub struct {
	Site string
	API  string
}

// Endpoint returns where a client is authorized and codes are exchanged.
func (g GitHub) Endpoint() oauth2.Endpoint {
	return oauth2.Endpoint{
		AuthURL:   g.Site + "/login/oauth/authorize",
		TokenURL:  g.Site + "/login/oauth/access_token",
		AuthStyle: oauth2.AuthStyleInParams,
	}
}

// CheckIssuer compares the iss that came with a code, "" for none.
func (g GitHub) CheckIssuer(iss string, policy Policy) error {
	if iss == "" || iss == g.Site+"/login/oauth" || iss == g.Site && policy.GitHubSiteIssuer {
		return nil
	}
	return AnswerError("it names a different issuer")
}

// IdentifyGitHub asks the API who the token belongs to. The subject is the numeric id: a
// login can be given to another account, the id cannot. The profile's address is not
// used, because people choose it freely; the verified primary address is. Errors are
// those of GetJSON, and one about a rate limit.
func (c *Client) IdentifyGitHub(ctx context.Context, g GitHub, token *oauth2.Token) (Identity, error) {
	var user struct {
		ID    int64  `json:"id"`
		Login string `json:"login"`
		Name  word   `json:"name"`
	}
	if err := c.getGitHub(ctx, g, "/user", token, &user); err != nil {
		return Identity{}, err
	}
	if user.ID <= 0 {
		return Identity{}, AnswerError("its user has no id")
	}
	out := Identity{
		Issuer:  g.Site,
		Subject: strconv.FormatInt(user.ID, 10),
		Name:    cmp.Or(string(user.Name), user.Login),
	}
	email, err := c.primaryEmail(ctx, g, token)
	if err != nil && c.Policy.RefuseUnverifiedEmail {
		return Identity{}, err
	}
	// Without the policy, a user who granted fewer scopes signs in without an address.
	out.Email, out.EmailVerified = email, email != ""
	out.Claims, err = c.gitHubClaims(ctx, g, token)
	return out, err
}

func (c *Client) primaryEmail(ctx context.Context, g GitHub, token *oauth2.Token) (string, error) {
	var list []struct {
		Email    string `json:"email"`
		Primary  bool   `json:"primary"`
		Verified bool   `json:"verified"`
	}
	if err := c.getGitHub(ctx, g, "/user/emails", token, &list); err != nil {
		return "", err
	}
	for _, e := range list {
		if e.Primary && e.Verified {
			return e.Email, nil
		}
	}
	return "", ErrEmailUnverified
}

func (c *Client) getGitHub(ctx context.Context, g GitHub, path string, token *oauth2.Token, out any) error {
	ask, err := c.newGitHubRequest(ctx, g.API+path, token)
	if err != nil {
		return err
	}
	body, _, err := do(c.HTTP, ask)
	if err != nil {
		return err
	}
	return decode(path, body, out)
}

func (c *Client) newGitHubRequest(ctx context.Context, address string, token *oauth2.Token) (*http.Request, error) {
	ask, err := newRequest(ctx, address, token.AccessToken)
	if err != nil {
		return nil, err
	}
	ask.Header.Set("Accept", "application/vnd.github+json")
	if c.Policy.GitHubAPIVersion != "" {
		ask.Header.Set("X-GitHub-Api-Version", c.Policy.GitHubAPIVersion)
	}
	return ask, nil
}
