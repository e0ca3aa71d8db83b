package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// Key is an API key. Key.Key, its plaintext, is set only in the responses to creation and
// rotation.
type Key struct {
	ID              string           `json:"id"`
	Project         string           `json:"project"` // id of the project it was created in
	Owner           string           `json:"owner"`
	KeyType         string           `json:"key_type"`
	Scopes          []string         `json:"scopes"`
	Tenant          string           `json:"tenant"`
	Product         *string          `json:"product"`     // nil opens its own project only
	Environment     *string          `json:"environment"` // nil opens all
	Description     string           `json:"description"`
	State           string           `json:"state"`  // active, frozen, revoked or expired
	Limits          map[string]int64 `json:"limits"` // calls by window; nil: those of its type
	EffectiveLimits map[string]int64 `json:"effective_limits"`
	LimitsFrom      string           `json:"limits_from"`   // key, key_type, project or none
	AllowedCIDRs    []string         `json:"allowed_cidrs"` // empty: from anywhere
	Prefix          string           `json:"prefix"`
	Last4           string           `json:"last4"`
	ETag            string           `json:"etag"` // for If-Match
	CreatedAt       time.Time        `json:"created_at"`
	ExpiresAt       *time.Time       `json:"expires_at"`
	GraceEndsAt     *time.Time       `json:"grace_ends_at"`
	LastUsedAt      *time.Time       `json:"last_used_at"` // to within a minute; nil for never
	Key             string           `json:"key,omitempty"`
}

// NewKey asks for an API key.
type NewKey struct {
	Owner        string           `json:"owner"`
	KeyType      string           `json:"key_type,omitempty"`    // full when empty
	Tenant       string           `json:"tenant,omitempty"`      // the project's own, default, when empty
	Product      string           `json:"product,omitempty"`     // the project's, whose projects the key then opens
	Environment  string           `json:"environment,omitempty"` // all when empty
	Description  string           `json:"description,omitempty"`
	ExpiresAt    *time.Time       `json:"expires_at,omitempty"` // the key type's default when nil
	Limits       map[string]int64 `json:"limits,omitzero"`      // calls by window; nil: the key type's, empty: none
	AllowedCIDRs []string         `json:"allowed_cidrs,omitempty"`
}

// KeyChange changes an API key; absent members stay as they are. The members are description,
// limits (null: those of its type), allowed_cidrs and expires_at (null: never).
type KeyChange map[string]any

// KeyFilter selects keys; an empty field selects all.
type KeyFilter struct {
	Owner, State, Tenant, KeyType string
	Environment                   string // all for keys that open all
	Text                          string // a part of prefix…last4 or of the description
	Sort                          string // such as owner or -last_used; newest first when empty
}

// Keys iterates over the API keys of a project, newest first, page by page. It
// ends after the first error.
func (c *Client) Keys(ctx context.Context, project string, f KeyFilter) iter.Seq2[Key, error] {
	query := url.Values{}
	for name, value := range map[string]string{
		"owner":       f.Owner,
		"state":       f.State,
		"tenant":      f.Tenant,
		"key_type":    f.KeyType,
		"environment": f.Environment,
		"q":           f.Text,
		"sort":        f.Sort,
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return pagesOf[Key](ctx, c, query, "api", "v1", "projects", project, "keys")
}

// UpdateKey changes a key if it still has the ETag; "" changes it in any state.
func (c *Client) UpdateKey(ctx context.Context, id, etag string, change KeyChange) (Key, error) {
	return call[Key](ctx, c.IfMatch(etag), http.MethodPatch, change, "api", "v1", "keys", id)
}

// CreateKey mints an API key.
func (c *Client) CreateKey(ctx context.Context, project string, in NewKey) (Key, error) {
	return call[Key](ctx, c, http.MethodPost, in, "api", "v1", "projects", project, "keys")
}

// RotateKey gives a key a new secret. The old secret stays valid for the grace period, in
// whole seconds; nil leaves its length to the server.
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

// UnfreezeKey ends the freeze of a key, so that calls with it are admitted again.
func (c *Client) UnfreezeKey(ctx context.Context, id string) (Key, error) {
	return c.change(ctx, id, "unfreeze")
}

// RevokeKey revokes a key permanently.
func (c *Client) RevokeKey(ctx context.Context, id string) (Key, error) {
	return c.change(ctx, id, "revoke")
}

func (c *Client) change(ctx context.Context, id, how string) (Key, error) {
	return call[Key](ctx, c, http.MethodPost, nil, "api", "v1", "keys", id, how)
}
