package idp

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"postern/core/snapshot"
)

// Audience is what the claims of Issuer.Claims are for.
const Audience = "https://api.example.com"

// Key is a private key with its kid.
type Key struct {
	ID        string
	Algorithm jose.SignatureAlgorithm
	Private   crypto.Signer
}

// KeyOf returns a key for the algorithm. It generates each key once, because RSA keys take long.
func KeyOf(algorithm jose.SignatureAlgorithm, kid string) Key {
	generated.Lock()
	defer generated.Unlock()
	name := string(algorithm) + kid
	if _, ok := generated.keys[name]; !ok {
		generated.keys[name] = Key{kid, algorithm, generate(algorithm)}
	}
	return generated.keys[name]
}

var generated = struct {
	sync.Mutex
	keys map[string]Key
}{keys: map[string]Key{}}

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

// Public returns the key as its issuer publishes it.
func (k Key) Public() jose.JSONWebKey {
	return jose.JSONWebKey{Key: k.Private.Public(), KeyID: k.ID, Algorithm: string(k.Algorithm), Use: "sig"}
}

// Sign returns a token with the claims. head changes its header, nil removes a member.
func (k Key) Sign(t testing.TB, head map[jose.HeaderKey]any, claims any) string {
	t.Helper()
	options := &jose.SignerOptions{ExtraHeaders: map[jose.HeaderKey]any{"typ": "at+jwt", "kid": k.ID}}
	for name, value := range head {
		if options.ExtraHeaders[name] = value; value == nil {
			delete(options.ExtraHeaders, name)
		}
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: k.Algorithm, Key: k.Private}, options)
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

// Issuer publishes its keys as OpenID Connect Discovery 1.0, section 4, and RFC 7517, section 5, describe. It signs any
// claims and headers that a test requires, forgeries included; it has no clients, users and codes.
type Issuer struct {
	URL string
	Now time.Time // of the claims

	fetches atomic.Int64 // of keys

	mu   sync.Mutex
	keys []any                                             // of the key set
	lie  func(w http.ResponseWriter, r *http.Request) bool // answers instead where it returns true
}

// StartIssuer runs an issuer with these keys until the test ends. Its claims are issued at now.
func StartIssuer(t testing.TB, now time.Time, keys ...Key) *Issuer {
	t.Helper()
	i := &Issuer{Now: now}
	i.Publish(keys...)
	server := httptest.NewServer(i)
	t.Cleanup(server.Close)
	i.URL = server.URL
	return i
}

// Publish replaces the keys of the issuer.
func (i *Issuer) Publish(keys ...Key) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = nil
	for _, k := range keys {
		i.keys = append(i.keys, k.Public())
	}
}

// AnswerWith makes lie answer requests. If it returns false, the issuer answers.
func (i *Issuer) AnswerWith(lie func(http.ResponseWriter, *http.Request) bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.lie = lie
}

// ServeHTTP implements http.Handler.
func (i *Issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
		_ = json.NewEncoder(w).Encode(map[string]string{"issuer": i.URL, "jwks_uri": i.URL + "/jwks.json"})
	case "/jwks.json":
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": keys})
	default:
		http.NotFound(w, r)
	}
}

// Fetches returns how often the keys were fetched.
func (i *Issuer) Fetches() int64 { return i.fetches.Load() }

// Pair returns the issuer with the audience of its claims.
func (i *Issuer) Pair() snapshot.TokenIssuer {
	return snapshot.TokenIssuer{Issuer: i.URL, Audience: Audience}
}

// Claims returns the claims of a valid token, after the edits.
func (i *Issuer) Claims(edits ...func(map[string]any)) map[string]any {
	out := map[string]any{
		"iss":   i.URL,
		"aud":   Audience,
		"sub":   "alice",
		"iat":   i.Now.Unix(),
		"exp":   i.Now.Add(time.Hour).Unix(),
		"scope": "read write",
	}
	for _, edit := range edits {
		edit(out)
	}
	return out
}

// WithClaim sets a claim; nil removes it.
func WithClaim(name string, value any) func(map[string]any) {
	return func(claims map[string]any) {
		if claims[name] = value; value == nil {
			delete(claims, name)
		}
	}
}
