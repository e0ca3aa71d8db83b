package idp

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
)

// Facebook answers as Facebook does to a login by hand
// (developers.facebook.com/docs/facebook-login/guides/advanced/manual-flow): debug_token takes the app's own token and
// says whose a token is, errors are an object with message, type and code (.../docs/graph-api/guides/error-handling),
// calls can be proved with appsecret_proof (.../docs/graph-api/guides/secure-requests), an address may be missing. For
// a token that has expired or never existed, debug_token says that it is not valid, with the reason next to it
// (.../docs/facebook-login/guides/access-tokens/debugging).
type Facebook struct {
	*Fake
	Debug map[string]any // the data of debug_token
	Me    map[string]any
	Graph func(w http.ResponseWriter, r *http.Request) bool
}

// StartFacebook runs a Facebook until the test ends.
func StartFacebook(t testing.TB) *Facebook {
	t.Helper()
	f := &Facebook{Fake: StartFake(t),
		Debug: map[string]any{
			"app_id":     ClientID,
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
			refuseFacebook(w)
			return true
		}
		Answer(w, http.StatusOK, map[string]any{
			"access_token": f.Access,
			"token_type":   "bearer",
			"expires_in":   5183944,
		})
	case strings.HasSuffix(r.URL.Path, "/debug_token"):
		if bearer != ClientID+"|"+ClientSecret {
			refuseFacebook(w)
			return true
		}
		if r.URL.Query().Get("input_token") != f.Access {
			Answer(w, http.StatusOK, map[string]any{"data": map[string]any{
				"is_valid": false,
				"scopes":   []string{},
				"error":    map[string]any{"code": 190, "message": "Malformed access token"},
			}})
			return true
		}
		Answer(w, http.StatusOK, map[string]any{"data": f.Debug})
	case strings.HasSuffix(r.URL.Path, "/me"):
		proof := hmac.New(sha256.New, []byte(ClientSecret))
		proof.Write([]byte(f.Access))
		if bearer != f.Access || r.URL.Query().Get("appsecret_proof") != hex.EncodeToString(proof.Sum(nil)) {
			refuseFacebook(w)
			return true
		}
		Answer(w, http.StatusOK, f.Me)
	default:
		return false
	}
	return true
}

func refuseFacebook(w http.ResponseWriter) {
	Answer(w, http.StatusBadRequest, map[string]any{"error": map[string]any{
		"message": "This authorization code has been used.",
		"type":    "OAuthException",
		"code":    100,
	}})
}
