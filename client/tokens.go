package client

import (
	"context"
	"iter"
	"net/http"
	"time"
)

// Token is a credential of the control plane. Its plaintext, Token.Token, is set only
// in the response to its creation.
type Token struct {
	ID           string     `json:"id"`
	Kind         string     `json:"kind"` // personal, cli or workspace
	Name         string     `json:"name"`
	Scopes       []string   `json:"scopes"` // empty for a workspace key
	Last4        string     `json:"last4"`
	CreatedAt    time.Time  `json:"created_at"`
	ExpiresAt    *time.Time `json:"expires_at"`
	LastUsedAt   *time.Time `json:"last_used_at"`   // to the minute; nil for never
	LastUsedFrom string     `json:"last_used_from"` // IP address of the client then, "" if not known
	Current      bool       `json:"current"`
	Token        string     `json:"token,omitempty"`
}

// NewToken is a request for an access token.
type NewToken struct {
	Name      string     `json:"name"`
	Scopes    []string   `json:"scopes"`
	ExpiresAt *time.Time `json:"expires_at,omitempty"` // in 90 days when nil
}

// Whoami describes the principal of a credential.
type Whoami struct {
	Account *Account     `json:"account"` // nil for a workspace key
	Teams   []Membership `json:"teams"`   // new projects go into the first
	Token   *Token       `json:"token"`
}

// Account is a person who signs in.
type Account struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Email string `json:"email"`
}

// Membership is a team and the account's role in it.
type Membership struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Role string `json:"role"` // owner, member, viewer, or workspace
}

// Claimed lists what a claim has moved.
type Claimed struct {
	Team     ClaimedTeam `json:"team"`
	Projects []string    `json:"projects"`
	Renamed  []string    `json:"renamed"` // products and tenants whose names the team had already
}

// ClaimedTeam is the team that a claim has moved projects to.
type ClaimedTeam struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// Whoami returns the principal of the client's token.
func (c *Client) Whoami(ctx context.Context) (Whoami, error) {
	return call[Whoami](ctx, c, http.MethodGet, nil, "api", "v1", "whoami")
}

// Tokens iterates over the access tokens of the account, newest first. It ends after
// the first error.
func (c *Client) Tokens(ctx context.Context, options ...ListOptions) iter.Seq2[Token, error] {
	return pagesOf[Token](ctx, c, queryOf(options), "api", "v1", "tokens")
}

// CreateToken creates an access token.
func (c *Client) CreateToken(ctx context.Context, in NewToken) (Token, error) {
	return call[Token](ctx, c, http.MethodPost, in, "api", "v1", "tokens")
}

// RevokeToken revokes an access token.
func (c *Client) RevokeToken(ctx context.Context, id string) error {
	response, err := c.send(ctx, http.MethodDelete, nil, "", []string{"api", "v1", "tokens", id})
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// Claim moves an unclaimed workspace into the team with an id, or with "" into a new
// team.
func (c *Client) Claim(ctx context.Context, code, team string) (Claimed, error) {
	in := map[string]string{"code": code}
	if team != "" {
		in["team"] = team
	}
	return call[Claimed](ctx, c, http.MethodPost, in, "api", "v1", "claim")
}
