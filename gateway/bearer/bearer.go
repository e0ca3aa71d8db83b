// Package bearer verifies the JSON Web Tokens that callers of a proxy send, on every call. It owns the checks of a
// token, the choice of the key that verifies it, and the fetching and caching of issuers' keys. It leaves the accepted
// issuers and what a valid token opens to package policy, and permitted addresses to the egress guard's HTTP client.
// Standards: RFC 7515 and RFC 7519 with the advice of RFC 8725, RFC 7517 section 5 (key sets), RFC 9068 section 4
// (access tokens), OpenID Connect Discovery 1.0 section 4 and RFC 8414.
package bearer

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"postern/core/policy"
	"postern/platform/syncmap"
)

// Verifier verifies tokens and caches the keys of their issuers. Create one with New;
// it is safe for concurrent use.
type Verifier struct {
	client  *http.Client
	log     *slog.Logger
	mu      sync.Mutex // held while key sets are added or evicted, and while a fetch starts
	sets    syncmap.Map[source, *keySet]
	own     syncmap.Map[string, *publicKey] // by the JWK of an app client's key
	headers headerCache
	known   verdicts

	fetching sync.WaitGroup
	open     context.Context // canceled by Close
	close    context.CancelFunc
}

// New returns a verifier that fetches keys with the client. The client must not
// follow redirects: the issuer's address was checked, the redirect's is not.
func New(client *http.Client, log *slog.Logger) *Verifier {
	v := &Verifier{client: client, log: log, known: newVerdicts()}
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

// Verify verifies a token in the compact form (RFC 7515, 7.1) that one of the issuers
// must have issued. If the token is valid it sets into to its claims and returns the
// zero denial. It waits up to fetchTimeout for keys that have to be fetched; those of
// our own app clients never have to. ctx has the trace of the call: a fetch that it causes belongs
// to it, and does not end with ctx.
func (v *Verifier) Verify(
	ctx context.Context, token string, from policy.Issuers, now time.Time, into *policy.Token,
) policy.Denial {
	parts := compacts.Get().(*compact)
	defer parts.release()
	if !parts.parse(token) {
		return policy.InvalidToken
	}
	head, cached, ok := v.headers.read(parts.headerText)
	if !ok || !head.isAcceptable() {
		return policy.InvalidToken
	}
	claims, ok := readClaims(parts.payload, from.Own != nil && head.typ == accessToken)
	if !ok {
		return policy.InvalidToken
	}
	if client := ownClient(from.Own, &claims); client != nil {
		key := v.ownKey(client, &head, now)
		if key == nil || !claims.validAt(now) || !v.known.signed(parts, key, head.algorithm, now) {
			return policy.InvalidToken
		}
		if !cached {
			v.headers.add(parts.headerText, head)
		}
		return claims.fillOwn(client, from.Audience, now, into)
	}
	issuer := claims.issuer(from.Named)
	if issuer == nil || !claims.validAt(now) {
		return policy.InvalidToken
	}
	keys, denial := v.set(issuer, now).find(ctx, head.keyID, head.algorithm, now)
	if denial != (policy.Denial{}) {
		return denial
	}
	if !slices.ContainsFunc(keys, func(k *publicKey) bool { return v.known.signed(parts, k, head.algorithm, now) }) {
		return policy.InvalidToken
	}
	if !cached {
		v.headers.add(parts.headerText, head)
	}
	return claims.fill(issuer, into)
}

// isAcceptable reports whether the header is that of a token for an API. Other kinds
// of tokens, such as logout tokens and DPoP proofs, may be signed with the same keys
// for the same audience (RFC 8725, 3.11).
func (h *header) isAcceptable() bool {
	if algorithms[h.algorithm].family == 0 {
		return false
	}
	switch h.typ {
	case "", "jwt", accessToken:
		return true
	}
	return false
}
