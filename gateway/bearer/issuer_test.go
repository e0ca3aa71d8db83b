package bearer_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"go.uber.org/goleak"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/gateway/bearer"
	"postern/platform/egress"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

const audience = "https://api.example.com"

// key is a private key with its kid.
type key struct {
	kid       string
	algorithm jose.SignatureAlgorithm
	private   crypto.Signer
}

// keyOf generates each key once, because RSA keys take long.
var keyOf = func() func(algorithm jose.SignatureAlgorithm, kid string) key {
	var mu sync.Mutex
	keys := map[string]key{}
	return func(algorithm jose.SignatureAlgorithm, kid string) key {
		mu.Lock()
		defer mu.Unlock()
		name := string(algorithm) + kid
		if _, ok := keys[name]; !ok {
			keys[name] = key{kid, algorithm, generate(algorithm)}
		}
		return keys[name]
	}
}()

func generate(algorithm jose.SignatureAlgorithm) (private crypto.Signer) {
	var err error
	switch algorithm {
	case jose.ES256:
		private, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case jose.ES384:
		private, err = ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	case jose.EdDSA:
		_, private, err = ed25519.GenerateKey(rand.Reader)
	default:
		private, err = rsa.GenerateKey(rand.Reader, 2048)
	}
	if err != nil {
		panic(err)
	}
	return private
}

func (k key) public() jose.JSONWebKey {
	return jose.JSONWebKey{Key: k.private.Public(), KeyID: k.kid, Algorithm: string(k.algorithm), Use: "sig"}
}

// sign returns a token with the claims. head changes its header, nil removes a member.
func (k key) sign(t testing.TB, head map[jose.HeaderKey]any, claims any) string {
	t.Helper()
	options := &jose.SignerOptions{ExtraHeaders: map[jose.HeaderKey]any{"typ": "at+jwt", "kid": k.kid}}
	for name, value := range head {
		if options.ExtraHeaders[name] = value; value == nil {
			delete(options.ExtraHeaders, name)
		}
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: k.algorithm, Key: k.private}, options)
	if err != nil {
		t.Fatal(err)
	}
	payload, raw := claims.(string)
	if !raw {
		text, err := json.Marshal(claims)
		if err != nil {
			t.Fatal(err)
		}
		payload = string(text)
	}
	signed, err := signer.Sign([]byte(payload))
	if err != nil {
		t.Fatal(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// issuer is a server with a discovery document and keys.
type issuer struct {
	url     string
	fetches atomic.Int64 // of keys

	mu   sync.Mutex
	keys []any                                             // of the key set
	lie  func(w http.ResponseWriter, r *http.Request) bool // answers instead where it returns true
}

func newIssuer(t testing.TB, keys ...key) *issuer {
	t.Helper()
	i := &issuer{}
	i.publish(keys...)
	server := httptest.NewServer(i)
	t.Cleanup(server.Close)
	i.url = server.URL
	return i
}

func (i *issuer) publish(keys ...key) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = nil
	for _, k := range keys {
		i.keys = append(i.keys, k.public())
	}
}

// answerWith makes lie answer requests. Where it returns false the issuer answers.
func (i *issuer) answerWith(lie func(http.ResponseWriter, *http.Request) bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.lie = lie
}

func (i *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	keys, lie := i.keys, i.lie
	i.mu.Unlock()
	if r.URL.Path == "/jwks.json" {
		i.fetches.Add(1)
	}
	if lie != nil && lie(w, r) {
		return
	}
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		_ = json.NewEncoder(w).Encode(map[string]string{"issuer": i.url, "jwks_uri": i.url + "/jwks.json"})
	case "/jwks.json":
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": keys})
	default:
		http.NotFound(w, r)
	}
}

func (i *issuer) pair() snapshot.TokenIssuer {
	return snapshot.TokenIssuer{Issuer: i.url, Audience: audience}
}

// claims returns the claims of a valid token, after the edits.
func (i *issuer) claims(edits ...func(map[string]any)) map[string]any {
	out := map[string]any{
		"iss":   i.url,
		"aud":   audience,
		"sub":   "alice",
		"iat":   now.Unix(),
		"exp":   now.Add(time.Hour).Unix(),
		"scope": "read write",
	}
	for _, edit := range edits {
		edit(out)
	}
	return out
}

func with(name string, value any) func(map[string]any) {
	return func(claims map[string]any) {
		if claims[name] = value; value == nil {
			delete(claims, name)
		}
	}
}

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
	denial := v.Verify(token, policy.Issuers{Named: of}, at, &out)
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
	signature, err := k.private.Sign(rand.Reader, sum[:], crypto.SHA256)
	if err != nil {
		panic(err)
	}
	return signature
}
