package client

import (
	"context"
	"iter"
	"net/http"
	"time"
)

// Key is an API key. Key.Key, its plaintext, is there only in the answers to
// creation and rotation.
type Key struct {
	ID          string     `json:"id"`
	Project     string     `json:"project"`
	Owner       string     `json:"owner"`
	KeyType     string     `json:"key_type"`
	Scopes      []string   `json:"scopes"`
	Tenant      string     `json:"tenant"`
	Environment *string    `json:"environment"` // nil opens all
	Description string     `json:"description"`
	State       string     `json:"state"` // active, frozen, revoked or expired
	Prefix      string     `json:"prefix"`
	Last4       string     `json:"last4"`
	CreatedAt   time.Time  `json:"created_at"`
	ExpiresAt   *time.Time `json:"expires_at"`
	GraceEndsAt *time.Time `json:"grace_ends_at"`
	LastUsedAt  *time.Time `json:"last_used_at"` // to within a minute; nil for never
	Key         string     `json:"key,omitempty"`
}

// NewKey asks for an API key.
type NewKey struct {
	Owner       string     `json:"owner"`
	KeyType     string     `json:"key_type,omitempty"`    // full when empty
	Environment string     `json:"environment,omitempty"` // all when empty
	Description string     `json:"description,omitempty"`
	ExpiresAt   *time.Time `json:"expires_at,omitempty"` // the key type's default when nil
}

// Keys goes through all API keys of a project, newest first, page by page. It
// ends after the first error.
func (c *Client) Keys(ctx context.Context, project string) iter.Seq2[Key, error] {
	return pages[Key](ctx, c, "api", "v1", "projects", project, "keys")
}

// CreateKey mints an API key.
func (c *Client) CreateKey(ctx context.Context, project string, in NewKey) (Key, error) {
	return call[Key](ctx, c, http.MethodPost, in, "api", "v1", "projects", project, "keys")
}

// RotateKey gives a key a new secret. The old one works for the grace period
// more, in whole seconds; nil leaves its length to the server.
func (c *Client) RotateKey(ctx context.Context, id string, grace *time.Duration) (Key, error) {
	in := map[string]int64{}
	if grace != nil {
		in["grace_seconds"] = int64(*grace / time.Second)
	}
	return call[Key](ctx, c, http.MethodPost, in, "api", "v1", "keys", id, "rotate")
}

// FreezeKey refuses calls with the key until it is unfrozen.
func (c *Client) FreezeKey(ctx context.Context, id string) (Key, error) {
	return c.change(ctx, id, "freeze")
}

// UnfreezeKey makes a frozen key work again.
func (c *Client) UnfreezeKey(ctx context.Context, id string) (Key, error) {
	return c.change(ctx, id, "unfreeze")
}

// RevokeKey ends a key for good.
func (c *Client) RevokeKey(ctx context.Context, id string) (Key, error) {
	return c.change(ctx, id, "revoke")
}

func (c *Client) change(ctx context.Context, id, how string) (Key, error) {
	return call[Key](ctx, c, http.MethodPost, nil, "api", "v1", "keys", id, how)
}
