// Package bearer verifies the tokens that callers of a proxy send: JSON Web Tokens
// of issuers that its version names.
//
// It owns what a good token is, which of its issuer's keys verifies it, and those
// keys: where they come from, how long they are kept, and how seldom they are asked
// for. It does not own which issuers count (snapshot.TokenIssuer), what a good token
// opens (policy), nor which addresses may be reached: its client is the egress
// guard's.
//
// Standards: RFC 7515 and RFC 7519 with the advice of RFC 8725, RFC 7517 (key sets),
// RFC 9068 (access tokens), OpenID Connect Discovery 1.0 and RFC 8414. A token is
// verified anew on every call: keys are kept here, tokens are not.
package bearer

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"postern/policy"
	"postern/snapshot"
)

// algorithms are those that tokens may be signed with: asymmetric ones alone. With
// HS256 among them a public key would be a password that everybody knows, and with
// none nobody would sign (RFC 8725, 2.1).
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.EdDSA,
}

// maxToken bounds a token's length in bytes.
const maxToken = 16 << 10

// Verifier verifies tokens and keeps the keys of their issuers. Make one with New;
// it is safe for concurrent use.
type Verifier struct {
	client *http.Client
	log    *slog.Logger
	mu     sync.Mutex // of making and forgetting sets
	sets   sync.Map   // source to *keySet

	fetching sync.WaitGroup
	open     context.Context // over when Close was called
	close    context.CancelFunc
}

// New makes a verifier that fetches keys with the client, which must not follow
// redirects: what an issuer's address may be was judged, what it redirects to not.
func New(client *http.Client, log *slog.Logger) *Verifier {
	v := &Verifier{client: client, log: log}
	v.open, v.close = context.WithCancel(context.Background())
	return v
}

// Close ends the fetches under way and waits for them.
func (v *Verifier) Close() {
	v.mu.Lock()
	v.close()
	v.mu.Unlock()
	v.fetching.Wait()
	v.client.CloseIdleConnections()
}

// Verify judges a token in the compact form (RFC 7515, 7.1) by the issuers whose
// tokens are taken. The zero denial means that it is good: into has then what it
// says. It waits for keys that have to be fetched, at most fetchTimeout.
func (v *Verifier) Verify(token string, issuers []snapshot.TokenIssuer, now time.Time, into *policy.Token) policy.Denial {
	if len(token) > maxToken {
		return policy.InvalidToken
	}
	signed, err := jose.ParseSignedCompact(token, algorithms)
	if err != nil || len(signed.Signatures) != 1 {
		return policy.InvalidToken
	}
	head := signed.Signatures[0].Protected
	if !plainHeader(head) {
		return policy.InvalidToken
	}
	said, ok := readClaims(signed.UnsafePayloadWithoutVerification())
	if !ok {
		return policy.InvalidToken
	}
	issuer := said.issuer(issuers)
	if issuer == nil || !said.holds(now) {
		return policy.InvalidToken
	}
	keys, denial := v.set(issuer, now).find(head.KeyID, head.Algorithm, now)
	if denial != (policy.Denial{}) {
		return denial
	}
	for _, key := range keys {
		if _, err := signed.Verify(key); err == nil {
			return said.fill(issuer, into)
		}
	}
	return policy.InvalidToken
}

// plainHeader tells a header that asks for nothing we do not do. Keys that it brings
// or points at (jwk, jku, x5c, x5u) are never looked at: whoever signed would choose
// what verifies (RFC 8725, 3.10).
func plainHeader(head jose.Header) bool {
	for _, asks := range []jose.HeaderKey{"crit", "b64"} { // RFC 7515, 4.1.11; RFC 7797
		if _, there := head.ExtraHeaders[asks]; there {
			return false
		}
	}
	typ, there := head.ExtraHeaders[jose.HeaderType]
	if !there {
		return true
	}
	name, _ := typ.(string)
	// What says that it is something else, such as a logout token or a DPoP proof,
	// may be signed with the same keys for the same audience (RFC 8725, 3.11).
	switch strings.TrimPrefix(strings.ToLower(name), "application/") {
	case "jwt", "at+jwt":
		return true
	}
	return false
}
