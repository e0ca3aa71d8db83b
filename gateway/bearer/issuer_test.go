package bearer_test

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"go.uber.org/goleak"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/gateway/bearer"
	"postern/platform/egress"
	"postern/testkit/idp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

const audience = idp.Audience

type (
	key    = idp.Key
	issuer = idp.Issuer
)

func keyOf(algorithm jose.SignatureAlgorithm, kid string) key {
	return idp.KeyOf(algorithm, kid)
}

func newIssuer(t testing.TB, keys ...key) *issuer {
	t.Helper()
	return idp.StartIssuer(t, now, keys...)
}

func with(name string, value any) func(map[string]any) { return idp.WithClaim(name, value) }

func newVerifier(t testing.TB) *bearer.Verifier {
	t.Helper()
	guard, err := egress.New(egress.Options{LoopbackAllowed: true})
	if err != nil {
		t.Fatal(err)
	}
	v := bearer.New(guard.Client(), slog.New(slog.DiscardHandler))
	t.Cleanup(v.Close)
	return v
}

func verify(v *bearer.Verifier, token string, at time.Time, of ...snapshot.TokenIssuer) (policy.Token, policy.Denial) {
	var out policy.Token
	denial := v.Verify(context.Background(), token, policy.Issuers{Named: of}, at, &out)
	return out, denial
}

func segment(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

func rawSign(k key, text string) []byte {
	sum := sha256.Sum256([]byte(text))
	signature, err := k.Private.Sign(rand.Reader, sum[:], crypto.SHA256)
	if err != nil {
		panic(err)
	}
	return signature
}

// keyAs returns a key that calls itself another one.
func keyAs(kid string, algorithm jose.SignatureAlgorithm, of key) key {
	return key{ID: kid, Algorithm: algorithm, Private: of.Private}
}
