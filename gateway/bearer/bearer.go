// Package bearer verifies the JSON Web Tokens that callers of a proxy send, on every call. It owns the checks of a
// token, the choice of the key that verifies it, and the fetching and caching of issuers' keys. It leaves the accepted
// issuers and the rights of a valid token to package policy, and permitted addresses to the egress guard's HTTP client.
//
// Signatures of RSA are verified by crypto/rsa. It prepares the modulus for every signature, which is a third of the
// work; a verifier that prepares it once was here before. It isn't worth its code: a token's verdict is remembered for
// a minute, so that almost no call waits for a signature, and crypto/rsa gets the fixes of the Go project.
//
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

// Close ends the current fetches and waits for them.
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
	if !parts.take(token) {
		return policy.InvalidToken
	}
	parts.known = v.known.find(&parts.sum, now)
	says, ok := v.read(parts, from.Own != nil)
	if !ok {
		return policy.InvalidToken
	}
	if client := ownClient(from.Own, &says.claims); client != nil {
		key := v.ownKey(client, &says.head, now)
		if key == nil || !says.claims.validAt(now) || !v.signed(parts, says, key, now) {
			return policy.InvalidToken
		}
		return says.fillOwn(client, from.Audience, now, into)
	}
	issuer := says.claims.issuer(from.Named)
	if issuer == nil || !says.claims.validAt(now) {
		return policy.InvalidToken
	}
	keys, denial := v.set(issuer, now).find(ctx, says.head.keyID, says.head.algorithm, now)
	if denial != (policy.Denial{}) {
		return denial
	}
	if !slices.ContainsFunc(keys, func(k *publicKey) bool { return v.signed(parts, says, k, now) }) {
		return policy.InvalidToken
	}
	says.fill(issuer, into)
	return policy.Denial{}
}

// read returns the claims of the token, or false if they can't be accepted. withOwn: it may be one of an app client.
func (v *Verifier) read(parts *compact, withOwn bool) (*reading, bool) {
	if parts.known != nil {
		says := parts.known.says
		if says != nil && says.mayBeOurs == (withOwn && says.head.typ == accessToken) {
			return says, true
		}
	}
	if !parts.parse() {
		return nil, false
	}
	head, ok := v.headers.read(parts.headerText)
	if !ok || !head.isAcceptable() {
		return nil, false
	}
	return readPayload(parts.payload, head, withOwn && head.typ == accessToken)
}

// signed reports whether the key has signed the token, by an earlier verdict if there is one.
func (v *Verifier) signed(parts *compact, says *reading, by *publicKey, now time.Time) bool {
	if parts.known != nil && parts.known.key == by {
		return true
	}
	if !parts.parse() || !by.verify(says.head.algorithm, parts.signed, parts.signature) {
		return false
	}
	v.headers.add(parts.headerText, says.head)
	v.known.keep(parts, says, by, now)
	return true
}

// isAcceptable reports whether the header belongs to a token for an API. Other kinds of tokens, such as logout tokens
// and DPoP proofs, may be signed with the same keys for the same audience (RFC 8725, 3.11).
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
