package idp

import (
	"net/http"
	"testing"
)

// StartGoogle runs a provider until the test ends that answers as Google does to an OpenID Connect login. The
// differences from other providers are from developers.google.com/identity/openid-connect/openid-connect: the issuer is
// the address itself, ID tokens have azp, hd for Workspace accounts, and email_verified. tokeninfo says what an access
// token is, which it takes in a header; its numbers are strings, and for any other it answers 400
// (google-auth-library-nodejs, getTokenInfo; developers.google.com/identity/protocols/oauth2).
func StartGoogle(t testing.TB) *Fake {
	t.Helper()
	p := StartFake(t)
	p.Subject = "110169484474386276334" // a number of up to 255 digits, "sub" in the table of claims
	p.Claims = func(claims map[string]any) { claims["azp"] = ClientID }
	p.Access = "ya29.canary" + p.Access[len("canary-access-"):]
	p.Serve = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/tokeninfo" {
			return false
		}
		if r.Method != http.MethodPost || r.Header.Get("Authorization") != "Bearer "+p.Access {
			Answer(w, http.StatusBadRequest, map[string]any{
				"error":             "invalid_token",
				"error_description": "Invalid Value",
			})
			return true
		}
		answer := map[string]any{
			"azp":         ClientID,
			"aud":         ClientID,
			"sub":         p.Subject,
			"scope":       "openid",
			"exp":         "1893456000",
			"expires_in":  "3599",
			"access_type": "online",
		}
		if p.Verdict != nil {
			p.Verdict(answer)
		}
		Answer(w, http.StatusOK, answer)
		return true
	}
	return p
}
