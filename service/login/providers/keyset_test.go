package providers_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"postern/platform/fault"
	"postern/testkit/idp"
)

// keysBeside answers the provider's key set with more keys before its own.
func keysBeside(t *testing.T, p *idp.Fake, odd ...string) func(http.ResponseWriter, *http.Request) bool {
	t.Helper()
	own, err := json.Marshal(jose.JSONWebKey{
		Key:       &p.Key.PublicKey,
		KeyID:     idp.KeyID,
		Algorithm: "RS256",
		Use:       "sig",
	})
	if err != nil {
		t.Fatal(err)
	}
	return func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "keys") && !strings.HasSuffix(r.URL.Path, "jwks") &&
			!strings.HasSuffix(r.URL.Path, "certs") {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"keys":[` + strings.Join(append(odd, string(own)), ",") + `]}`))
		return true
	}
}

func TestComplete_oddKeys(t *testing.T) {
	for kind, start := range kinds {
		t.Run(kind, func(t *testing.T) {
			s := start(t)
			s.fake.Serve = keysBeside(t, s.fake,
				`{"kty":"RSA","kid":"no-modulus","alg":"RS256"}`,
				`{"kty":"EC","crv":"P-256","x":"AA","y":"AA","kid":"off-curve"}`,
				`{"kty":"AKP","alg":"ML-DSA-44","pub":"AA"}`,
				`{"kty":7}`, `"text"`, `null`)
			if _, _, err := s.login(t); err != nil {
				t.Errorf("a set with keys that cannot be read: %v", err)
			}
		})
	}
}

func TestComplete_invalidKeySet(t *testing.T) {
	s := plain(t, "oidc")
	s.fake.Serve = func(w http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "openid-configuration") || strings.HasSuffix(r.URL.Path, "token") {
			return false
		}
		_, _ = w.Write([]byte(strings.Repeat("x", 900_000)))
		return true
	}
	_, _, err := s.login(t)
	if fault.KindOf(err) != fault.Forbidden || len(err.Error()) > 1000 {
		t.Errorf("a key set of 900 KB that is none: %.300v in %d bytes", err, len(err.Error()))
	}
}

// hanging is a transport that times out at once, and keeps the deadline that the request had.
type hanging struct{ deadline time.Time }

func (h *hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	h.deadline, _ = r.Context().Deadline()
	return nil, context.DeadlineExceeded
}

// The client's own limit is 30 s, which a person who signs in would sit through.
func TestAuthorizeURL_hangingDiscovery(t *testing.T) {
	s, hangs := plain(t, "oidc"), &hanging{}
	s.set.HTTP = &http.Client{Transport: hangs, Timeout: 30 * time.Second}
	_, err := s.set.AuthorizeURL(t.Context(), s.config, sent)
	if fault.KindOf(err) != fault.Unavailable {
		t.Errorf("%v, want provider_unreachable", err)
	}
	if wait := time.Until(hangs.deadline); hangs.deadline.IsZero() || wait > 20*time.Second {
		t.Errorf("the discovery document has %s to come, want at most 20 s", wait)
	}
}
