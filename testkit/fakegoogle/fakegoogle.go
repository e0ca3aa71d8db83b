// Package fakegoogle gives tests what Google answers to an OpenID Connect login.
//
// It owns what differs from any other provider, from
// developers.google.com/identity/openid-connect/openid-connect: the issuer is the
// address itself, ID tokens have azp, hd for Workspace accounts, and
// email_verified; tokeninfo says what an access token is, which it takes in a header,
// its numbers are strings, and for any other it answers 400
// (google-auth-library-nodejs, getTokenInfo; developers.google.com/identity/
// protocols/oauth2). It does not own codes and keys (fakeoidc).
package fakegoogle

import (
	"net/http"
	"testing"

	"postern/testkit/fakeoidc"
)

// Start runs it until the test ends.
func Start(t testing.TB) *fakeoidc.Provider {
	t.Helper()
	p := fakeoidc.Start(t)
	p.Subject = "110169484474386276334" // a number of up to 255 digits, "sub" in the table of claims
	p.Claims = func(claims map[string]any) { claims["azp"] = fakeoidc.ClientID }
	p.Access = "ya29.canary" + p.Access[len("canary-access-"):]
	p.Serve = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/tokeninfo" {
			return false
		}
		if r.Method != http.MethodPost || r.Header.Get("Authorization") != "Bearer "+p.Access {
			fakeoidc.Answer(w, http.StatusBadRequest, map[string]any{
				"error":             "invalid_token",
				"error_description": "Invalid Value",
			})
			return true
		}
		answer := map[string]any{
			"azp":         fakeoidc.ClientID,
			"aud":         fakeoidc.ClientID,
			"sub":         p.Subject,
			"scope":       "openid",
			"exp":         "1893456000",
			"expires_in":  "3599",
			"access_type": "online",
		}
		if p.Verdict != nil {
			p.Verdict(answer)
		}
		fakeoidc.Answer(w, http.StatusOK, answer)
		return true
	}
	return p
}
