package client

import (
	"context"
	"net/http"
	"time"

	"postern/core/contract"
)

// Diagnosis is the report of a test of a target, an issuer, an introspection endpoint or a provider.
type Diagnosis struct {
	Outcome string         `json:"outcome"` // pass, warn or fail
	Steps   []Step         `json:"steps"`
	Target  *CheckedTarget `json:"target,omitempty"`
	Keys    []IssuerKey    `json:"keys,omitempty"`
}

// CheckedTarget is what was measured of a target.
type CheckedTarget struct {
	AddressClass string     `json:"address_class,omitempty"` // public, private or loopback
	TLSVersion   string     `json:"tls_version,omitempty"`
	Expires      *time.Time `json:"certificate_expires_at,omitempty"`
	Status       int        `json:"status,omitempty"`
	FirstByte    int64      `json:"first_byte_ms,omitempty"`
}

// IssuerKey is a public key that verifies tokens.
type IssuerKey struct {
	ID        string `json:"kid,omitempty"`
	Type      string `json:"type"`
	Algorithm string `json:"alg,omitempty"`
}

// CheckTarget checks the target of an environment, named by its id, as the gateway reaches it.
func (c *Client) CheckTarget(ctx context.Context, project, environment string) (Diagnosis, error) {
	return call[Diagnosis](
		ctx, c, http.MethodPost, nil, "api", "v1", "projects", project, "environments", environment, "check",
	)
}

// TestTokenIssuer tests an issuer as a version would use it, and a token of it unless that is "".
func (c *Client) TestTokenIssuer(
	ctx context.Context, project, version string, pair contract.TokenIssuer, token string,
) (Diagnosis, error) {
	in := struct {
		contract.TokenIssuer

		Token string `json:"token,omitempty"`
	}{pair, token}
	return call[Diagnosis](
		ctx, c, http.MethodPost, in, "api", "v1", "projects", project, "versions", version, "token-issuers", "test",
	)
}

// TestIntrospection tests an introspection endpoint, nil for the version's own, and a token with it unless that is "".
func (c *Client) TestIntrospection(
	ctx context.Context, project, version string, at *contract.NewIntrospection, token string,
) (Diagnosis, error) {
	in := struct {
		Opaque *contract.NewIntrospection `json:"opaque,omitempty"`
		Token  string                     `json:"token,omitempty"`
	}{at, token}
	return call[Diagnosis](
		ctx, c, http.MethodPost, in, "api", "v1", "projects", project, "versions", version, "introspection", "test",
	)
}

// TestProvider tests an identity provider without a user who signs in.
func (c *Client) TestProvider(ctx context.Context, provider string) (Diagnosis, error) {
	return call[Diagnosis](ctx, c, http.MethodPost, nil, "api", "v1", "providers", provider, "test")
}
