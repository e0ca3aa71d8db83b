package client

import (
	"context"
	"net/http"
	"time"
)

// CallSigning is how calls to a project's upstreams are signed (RFC 9421).
type CallSigning struct {
	Enabled      bool         `json:"enabled"`
	DirectoryURL *string      `json:"directory_url"` // nil while disabled
	Keys         []SigningKey `json:"keys"`          // in the order in which they sign
}

// SigningKey is an Ed25519 key with which calls are signed.
type SigningKey struct {
	ID             string           `json:"id"` // keyid of its signatures
	State          string           `json:"state"`
	PublicKey      SigningPublicKey `json:"public_key"`
	SignsFrom      time.Time        `json:"signs_from"`
	PublishedUntil *time.Time       `json:"published_until"` // nil until a later key follows
	CreatedAt      time.Time        `json:"created_at"`
}

// SigningPublicKey is a JSON Web Key (RFC 8037).
type SigningPublicKey struct {
	Type  string `json:"kty"`
	Curve string `json:"crv"`
	ID    string `json:"kid"`
	Use   string `json:"use"`
	X     string `json:"x"`
}

// SigningRotation says when a new key signs, and how long the ones before it stay published
// from then on. nil means the server's default.
type SigningRotation struct {
	SignsIn *int64 `json:"signs_in_seconds,omitempty"`
	Grace   *int64 `json:"grace_seconds,omitempty"`
}

// CallSigning returns how calls of a project are signed.
func (c *Client) CallSigning(ctx context.Context, project string) (CallSigning, error) {
	return call[CallSigning](ctx, c, http.MethodGet, nil, "api", "v1", "projects", project, "call-signing")
}

// EnableCallSigning has calls of a project signed.
func (c *Client) EnableCallSigning(ctx context.Context, project string) (CallSigning, error) {
	return call[CallSigning](ctx, c, http.MethodPut, nil, "api", "v1", "projects", project, "call-signing")
}

// DisableCallSigning deletes a project's keys: its calls are no longer signed.
func (c *Client) DisableCallSigning(ctx context.Context, project string) error {
	return c.remove(ctx, "api", "v1", "projects", project, "call-signing")
}

// RotateSigningKey adds a key, which is published at once and signs later.
func (c *Client) RotateSigningKey(ctx context.Context, project string, in SigningRotation) (CallSigning, error) {
	return call[CallSigning](
		ctx, c, http.MethodPost, in, "api", "v1", "projects", project, "call-signing", "rotate",
	)
}
