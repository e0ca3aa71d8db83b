// Package bearer verifies the tokens that callers of a proxy send: JSON Web Tokens
// of issuers that its version names, and of our own app clients.
//
// It owns what a good token is, which of its issuer's keys verifies it, and the keys
// of others: where they come from, how long they are kept, and how seldom they are
// asked for. It does not own which issuers count (policy.Issuers), what a good token
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
	"slices"
	"sync"
	"time"

	"postern/core/policy"
)

// Verifier verifies tokens and keeps the keys of their issuers. Make one with New;
// it is safe for concurrent use.
type Verifier struct {
	client *http.Client
	log    *slog.Logger
	mu     sync.Mutex // of making and forgetting sets
	sets   sync.Map   // source to *keySet
	own    sync.Map   // text of a key of ours to *publicKey
	heads  headers

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
// says. It waits for keys that have to be fetched, at most fetchTimeout; for those of
// our own app clients it does not.
func (v *Verifier) Verify(token string, from policy.Issuers, now time.Time, into *policy.Token) policy.Denial {
	parts := spaces.Get().(*compact)
	defer parts.forget()
	if !parts.takeApart(token) {
		return policy.InvalidToken
	}
	head, known, ok := v.heads.read(parts.headerText)
	if !ok || !head.isOfToken() {
		return policy.InvalidToken
	}
	said, ok := readClaims(parts.payload, from.Own != nil && head.typ == accessToken)
	if !ok {
		return policy.InvalidToken
	}
	if client := ownClient(from.Own, &said); client != nil {
		key := v.ownKey(client, &head, now)
		if key == nil || !said.holds(now) || !key.verifies(head.algorithm, parts.text, parts.signature) {
			return policy.InvalidToken
		}
		if !known {
			v.heads.keep(parts.headerText, head)
		}
		return said.fillOwn(client, now, into)
	}
	issuer := said.issuer(from.Named)
	if issuer == nil || !said.holds(now) {
		return policy.InvalidToken
	}
	keys, denial := v.set(issuer, now).find(head.keyID, head.algorithm, now)
	if denial != (policy.Denial{}) {
		return denial
	}
	if !slices.ContainsFunc(
		keys, func(k publicKey) bool { return k.verifies(head.algorithm, parts.text, parts.signature) },
	) {
		return policy.InvalidToken
	}
	if !known {
		v.heads.keep(parts.headerText, head)
	}
	return said.fill(issuer, into)
}

// isOfToken tells the header of a token that may count. What says that it is
// something else, such as a logout token or a DPoP proof, may be signed with the same
// keys for the same audience (RFC 8725, 3.11).
func (h *header) isOfToken() bool {
	if algorithms[h.algorithm].family == 0 {
		return false
	}
	switch h.typ {
	case "", "jwt", accessToken:
		return true
	}
	return false
}
