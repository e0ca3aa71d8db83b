// Package fakemicrosoft gives tests what the Microsoft identity platform answers to
// a login through its address for accounts of any tenant.
//
// It owns what differs from any other provider: the discovery document of /common
// has {tenantid} in its issuer, where ID tokens have their tid
// (learn.microsoft.com/entra/identity-platform/v2-protocols-oidc and
// .../access-tokens#validate-the-issuer), a person is tid and oid, and addresses
// are not verified (.../id-token-claims-reference). It does not own codes and keys
// (fakeoidc).
package fakemicrosoft

import (
	"testing"

	"postern/testkit/fakeoidc"
)

// Who signs in.
const (
	TenantID = "72f988bf-86f1-41af-91ab-2d7cd011db47"
	ObjectID = "00000000-0000-0000-66f3-3332eca7ea81"
)

// Start runs it until the test ends.
func Start(t testing.TB) *fakeoidc.Provider {
	t.Helper()
	p := fakeoidc.Start(t)
	p.Base, p.Issuer = "/common/v2.0", p.URL+"/{tenantid}/v2.0"
	p.Claims = func(claims map[string]any) {
		claims["iss"] = p.URL + "/" + TenantID + "/v2.0"
		claims["tid"], claims["oid"] = TenantID, ObjectID
		delete(claims, "email_verified")
	}
	return p
}
