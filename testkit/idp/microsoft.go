package idp

import (
	"net/http"
	"testing"
	"time"
)

// The person who signs in at Microsoft.
const (
	MicrosoftTenantID = "72f988bf-86f1-41af-91ab-2d7cd011db47"
	MicrosoftObjectID = "00000000-0000-0000-66f3-3332eca7ea81"
)

// StartMicrosoft runs a provider until the test ends that answers as the Microsoft identity platform does to a login
// through its address for accounts of any tenant. The discovery document of /common has {tenantid} in its issuer, where
// ID tokens have their tid (learn.microsoft.com/entra/identity-platform/v2-protocols-oidc and
// .../access-tokens#validate-the-issuer), a person is tid and oid, and addresses are not verified
// (.../id-token-claims-reference). Access tokens for Graph are of version 1.0, with appid and an issuer of the token
// service (.../access-token-claims-reference), and Graph's userinfo takes no others (.../userinfo).
func StartMicrosoft(t testing.TB) *Fake {
	t.Helper()
	p := StartFake(t)
	p.Base, p.Issuer = "/common/v2.0", p.URL+"/{tenantid}/v2.0"
	p.Claims = func(claims map[string]any) {
		claims["iss"] = p.URL + "/" + MicrosoftTenantID + "/v2.0"
		claims["tid"], claims["oid"] = MicrosoftTenantID, MicrosoftObjectID
		delete(claims, "email_verified")
	}
	p.Access = MicrosoftAccess(p, nil)
	p.Serve = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/userinfo" && r.Header.Get("Authorization") != "Bearer "+p.Access {
			Answer(
				w, http.StatusUnauthorized,
				map[string]any{"error": map[string]any{"code": "InvalidAuthenticationToken"}},
			)
			return true
		}
		return false
	}
	return p
}

// MicrosoftSTS is the service that issues tokens of version 1.0.
func MicrosoftSTS(p *Fake) string { return p.URL + "/sts" }

// MicrosoftAccess is an access token for Graph, or for whatever change makes of it. userinfo
// takes the one that is p.Access.
func MicrosoftAccess(p *Fake, change func(claims map[string]any)) string {
	now := time.Now()
	claims := map[string]any{
		"aud":   "00000003-0000-0000-c000-000000000000",
		"iss":   MicrosoftSTS(p) + "/" + MicrosoftTenantID + "/",
		"ver":   "1.0",
		"appid": ClientID,
		"tid":   MicrosoftTenantID,
		"oid":   MicrosoftObjectID,
		"sub":   "pairwise",
		"iat":   now.Unix(),
		"exp":   now.Add(time.Hour).Unix(),
	}
	if change != nil {
		change(claims)
	}
	return p.Signed(claims)
}
