// Package fakemicrosoft gives tests what the Microsoft identity platform answers to
// a login through its address for accounts of any tenant.
//
// It owns what differs from any other provider: the discovery document of /common
// has {tenantid} in its issuer, where ID tokens have their tid
// (learn.microsoft.com/entra/identity-platform/v2-protocols-oidc and
// .../access-tokens#validate-the-issuer), a person is tid and oid, and addresses
// are not verified (.../id-token-claims-reference). Access tokens for Graph are of
// version 1.0, with appid and an issuer of the token service
// (.../access-token-claims-reference), and Graph's userinfo takes no others
// (.../userinfo). It does not own codes and keys (fakeoidc).
package fakemicrosoft

import (
	"net/http"
	"testing"
	"time"

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
	p.Access = Access(p, nil)
	p.Serve = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/userinfo" && r.Header.Get("Authorization") != "Bearer "+p.Access {
			fakeoidc.Answer(
				w, http.StatusUnauthorized,
				map[string]any{"error": map[string]any{"code": "InvalidAuthenticationToken"}},
			)
			return true
		}
		return false
	}
	return p
}

// STS is the service that issues tokens of version 1.0.
func STS(p *fakeoidc.Provider) string { return p.URL + "/sts" }

// Access is an access token for Graph, or for whatever change makes of it. userinfo
// takes the one that is p.Access.
func Access(p *fakeoidc.Provider, change func(claims map[string]any)) string {
	now := time.Now()
	claims := map[string]any{
		"aud":   "00000003-0000-0000-c000-000000000000",
		"iss":   STS(p) + "/" + TenantID + "/",
		"ver":   "1.0",
		"appid": fakeoidc.ClientID,
		"tid":   TenantID,
		"oid":   ObjectID,
		"sub":   "pairwise",
		"iat":   now.Unix(),
		"exp":   now.Add(time.Hour).Unix(),
	}
	if change != nil {
		change(claims)
	}
	return p.Signed(claims)
}
