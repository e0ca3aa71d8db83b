package client

import (
	"context"
	"iter"
	"net/http"
	"time"
)

// UserSession is a sign-in of a user at an app client.
type UserSession struct {
	ID         string     `json:"id"`
	Client     string     `json:"client"` // id
	ClientName string     `json:"client_name"`
	Provider   string     `json:"provider"` // "" if it was removed
	Scopes     []string   `json:"scopes"`
	UserAgent  string     `json:"user_agent"`
	LastSeenAt *time.Time `json:"last_seen_at"` // nil: never at the hosted pages again
	CreatedAt  time.Time  `json:"created_at"`
	ExpiresAt  time.Time  `json:"expires_at"`
}

// Consent is what a user agreed that an app client learns.
type Consent struct {
	Client     string    `json:"client"` // id
	ClientName string    `json:"client_name"`
	Scopes     []string  `json:"scopes"`
	CreatedAt  time.Time `json:"created_at"`
	UpdatedAt  time.Time `json:"updated_at"`
}

// UserSessions iterates over a user's sessions that have not ended, newest first.
func (c *Client) UserSessions(
	ctx context.Context, user string, options ...ListOptions,
) iter.Seq2[UserSession, error] {
	return pagesOf[UserSession](ctx, c, queryOf(options), "api", "v1", "users", user, "sessions")
}

// EndUserSession ends a session of a user. Its access tokens are refused at once.
func (c *Client) EndUserSession(ctx context.Context, user, session string) error {
	return c.remove(ctx, "api", "v1", "users", user, "sessions", session)
}

// EndUserSessions ends all sessions of a user and returns how many there were.
func (c *Client) EndUserSessions(ctx context.Context, user string) (int64, error) {
	out, err := call[struct {
		Ended int64 `json:"ended"`
	}](ctx, c, http.MethodPost, nil, "api", "v1", "users", user, "sessions", "end-all")
	return out.Ended, err
}

// Consents iterates over a user's consents.
func (c *Client) Consents(ctx context.Context, user string) iter.Seq2[Consent, error] {
	return pages[Consent](ctx, c, "api", "v1", "users", user, "consents")
}

// WithdrawConsent removes a user's consent to an app client and ends their sessions there.
func (c *Client) WithdrawConsent(ctx context.Context, user, appClient string) error {
	return c.remove(ctx, "api", "v1", "users", user, "consents", appClient)
}
