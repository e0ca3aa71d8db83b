// Package fakefacebook gives tests what Facebook answers to a login by hand.
//
// It owns Facebook's ways (developers.facebook.com/docs/facebook-login/guides/
// advanced/manual-flow): debug_token takes the app's own token and says whose a
// token is, errors are an object with message, type and code
// (.../docs/graph-api/guides/error-handling), calls can be proved with
// appsecret_proof (.../docs/graph-api/guides/secure-requests), an address may be
// missing; of a token that is over or never was, debug_token says that it is not
// valid, with the reason next to it (.../docs/facebook-login/guides/access-tokens/
// debugging). It does not own codes (fakeoidc).
package fakefacebook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"

	"postern/testkit/fakeoidc"
)

// Facebook is a running one.
type Facebook struct {
	*fakeoidc.Provider
	Debug map[string]any // the data of debug_token
	Me    map[string]any
	Graph func(w http.ResponseWriter, r *http.Request) bool
}

// Start runs it until the test ends.
func Start(t testing.TB) *Facebook {
	t.Helper()
	f := &Facebook{Provider: fakeoidc.Start(t),
		Debug: map[string]any{
			"app_id":     fakeoidc.ClientID,
			"user_id":    "10158",
			"is_valid":   true,
			"type":       "USER",
			"expires_at": 0,
		},
		Me: map[string]any{"id": "10158", "name": "Ana", "email": "ana@example.com"}}
	f.Access = "EAAcanary" + f.Access[len("canary-access-"):]
	f.Serve = f.serve
	return f
}

func (f *Facebook) serve(w http.ResponseWriter, r *http.Request) bool {
	if f.Graph != nil && f.Graph(w, r) {
		return true
	}
	bearer := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case strings.HasSuffix(r.URL.Path, "/oauth/access_token"):
		if _, ok := f.Redeem(r); !ok {
			refuse(w)
			return true
		}
		fakeoidc.Answer(w, http.StatusOK, map[string]any{
			"access_token": f.Access,
			"token_type":   "bearer",
			"expires_in":   5183944,
		})
	case strings.HasSuffix(r.URL.Path, "/debug_token"):
		if bearer != fakeoidc.ClientID+"|"+fakeoidc.ClientSecret {
			refuse(w)
			return true
		}
		if r.URL.Query().Get("input_token") != f.Access {
			fakeoidc.Answer(w, http.StatusOK, map[string]any{"data": map[string]any{
				"is_valid": false,
				"scopes":   []string{},
				"error":    map[string]any{"code": 190, "message": "Malformed access token"},
			}})
			return true
		}
		fakeoidc.Answer(w, http.StatusOK, map[string]any{"data": f.Debug})
	case strings.HasSuffix(r.URL.Path, "/me"):
		proof := hmac.New(sha256.New, []byte(fakeoidc.ClientSecret))
		proof.Write([]byte(f.Access))
		if bearer != f.Access || r.URL.Query().Get("appsecret_proof") != hex.EncodeToString(proof.Sum(nil)) {
			refuse(w)
			return true
		}
		fakeoidc.Answer(w, http.StatusOK, f.Me)
	default:
		return false
	}
	return true
}

func refuse(w http.ResponseWriter) {
	fakeoidc.Answer(w, http.StatusBadRequest, map[string]any{"error": map[string]any{
		"message": "This authorization code has been used.",
		"type":    "OAuthException",
		"code":    100,
	}})
}
