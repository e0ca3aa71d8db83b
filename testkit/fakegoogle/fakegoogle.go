// Package fakegoogle gives tests what Google answers to an OpenID Connect login.
//
// It owns what differs from any other provider, from
// developers.google.com/identity/openid-connect/openid-connect: the issuer is the
// address itself, ID tokens have azp, hd for Workspace accounts, and
// email_verified. It does not own codes and keys (fakeoidc).
package fakegoogle

import (
	"testing"

	"postern/testkit/fakeoidc"
)

// Start runs it until the test ends.
func Start(t testing.TB) *fakeoidc.Provider {
	t.Helper()
	p := fakeoidc.Start(t)
	p.Subject = "110169484474386276334" // a number of up to 255 digits, "sub" in the table of claims
	p.Claims = func(claims map[string]any) { claims["azp"] = fakeoidc.ClientID }
	return p
}
