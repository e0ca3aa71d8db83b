package client

import (
	"context"
	"iter"
	"net/http"
)

// KeyType is a type of API key. ExpiresIn is in seconds, 0 for no default.
type KeyType struct {
	ID        string           `json:"id"`
	Name      string           `json:"name"`
	Scopes    []string         `json:"scopes"`
	ExpiresIn int64            `json:"expires_in,omitempty"`
	Limits    map[string]int64 `json:"limits"` // calls by window
	BuiltIn   bool             `json:"built_in"`
	ETag      string           `json:"etag"` // for If-Match

	Warnings []Warning `json:"warnings,omitempty"` // in responses to changes
}

// KeyTypeChange changes a key type; nil leaves a field as it is.
type KeyTypeChange struct {
	Scopes    *[]string        `json:"scopes,omitempty"`
	ExpiresIn *int64           `json:"expires_in,omitempty"` // seconds; to 0: none
	Limits    map[string]int64 `json:"limits,omitzero"`      // empty: none
}

// KeyTypes iterates over a project's key types.
func (c *Client) KeyTypes(ctx context.Context, project string) iter.Seq2[KeyType, error] {
	return pages[KeyType](ctx, c, "api", "v1", "projects", project, "key-types")
}

// CreateKeyType adds a key type to a project.
func (c *Client) CreateKeyType(ctx context.Context, project string, in NewKeyType) (KeyType, error) {
	return call[KeyType](ctx, c, http.MethodPost, in, "api", "v1", "projects", project, "key-types")
}

// UpdateKeyType changes a key type, named by name or id.
func (c *Client) UpdateKeyType(ctx context.Context, project, keyType string, change KeyTypeChange) (KeyType, error) {
	return call[KeyType](ctx, c, http.MethodPatch, change, "api", "v1", "projects", project, "key-types", keyType)
}

// DeleteKeyType removes a key type that no key uses.
func (c *Client) DeleteKeyType(ctx context.Context, project, keyType string) error {
	return c.remove(ctx, "api", "v1", "projects", project, "key-types", keyType)
}
