package bearer_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/testkit"
)

var accepted = policy.Denial{}

func wantDenial(t *testing.T, when string, got, want policy.Denial) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %d %s, want %d %s", when, got.Status, got.Code, want.Status, want.Code)
	}
}

// An issuer publishes a new key, signs with it, and withdraws the old one.
func TestKeys_rotation(t *testing.T) {
	first, second := keyOf(jose.ES256, "first"), keyOf(jose.ES256, "second")
	of := newIssuer(t, first)
	v := newVerifier(t)
	at := now
	try := func(when string, k key, want policy.Denial) {
		t.Helper()
		token := k.Sign(t, nil, of.Claims(with("exp", at.Add(time.Hour).Unix()), with("iat", nil)))
		_, denial := verify(v, token, at, of.Pair())
		wantDenial(t, when, denial, want)
	}
	try("at first", first, accepted)
	of.Publish(first, second)
	at = at.Add(30 * time.Second)
	try("signed with the new key", second, accepted)
	try("signed with the old key", first, accepted)
	of.Publish(second)
	try("the old key, withdrawn a moment ago", first, accepted)
	at = at.Add(30 * time.Second)
	try("the old key starts a fetch", first, accepted)
	testkit.Eventually(t, "a third fetch", func() bool { return of.Fetches() == 3 })
	testkit.Eventually(t, "the end of the old key", func() bool {
		_, denial := verify(v, first.Sign(t, nil, of.Claims(with("exp", at.Add(time.Hour).Unix()))), at, of.Pair())
		return denial == policy.InvalidToken
	})
	try("signed with the new key at last", second, accepted)
}

// A key that its issuer has withdrawn verifies nothing 60 s later, although no call came in between.
func TestKeySet_withdrawn(t *testing.T) {
	first, second := keyOf(jose.ES256, "first"), keyOf(jose.ES256, "second")
	of := newIssuer(t, first)
	v := newVerifier(t)
	token := first.Sign(t, nil, of.Claims())
	_, denial := verify(v, token, now, of.Pair())
	wantDenial(t, "at first", denial, accepted)
	of.Publish(second)
	_, denial = verify(v, token, now.Add(time.Minute), of.Pair())
	wantDenial(t, "a minute later", denial, policy.InvalidToken)
}

func TestKeys_unknownKid(t *testing.T) {
	of := newIssuer(t, keyOf(jose.ES256, "known"))
	v := newVerifier(t)
	for i := range 100 {
		forger := keyOf(jose.ES256, "forger")
		forger.ID = strings.Repeat("k", i+1)
		_, denial := verify(v, forger.Sign(t, nil, of.Claims()), now.Add(time.Duration(i)*time.Second), of.Pair())
		wantDenial(t, "an invented kid", denial, policy.InvalidToken)
	}
	if n := of.Fetches(); n != 4 { // at 0, 30, 60 and 90 s
		t.Errorf("100 invented kids in 100 s had the keys fetched %d times, want 4", n)
	}
}

func TestKeys_concurrentFetch(t *testing.T) {
	k := keyOf(jose.ES256, "k")
	of := newIssuer(t, k)
	v := newVerifier(t)
	token := k.Sign(t, nil, of.Claims())
	var running sync.WaitGroup
	for range 50 {
		running.Go(func() {
			if _, denial := verify(v, token, now, of.Pair()); denial != accepted {
				t.Errorf("refused: %v", denial)
			}
		})
	}
	running.Wait()
	if n := of.Fetches(); n != 1 {
		t.Errorf("fetched %d times, want once", n)
	}
}

// While one issuer hangs, the tokens of others are verified, and its own as long as its
// cached keys are less than a minute old.
func TestIssuer_unavailable(t *testing.T) {
	k := keyOf(jose.ES256, "k")
	of, other := newIssuer(t, k), newIssuer(t, k)
	v := newVerifier(t)
	token := func(of *issuer, at time.Time) string {
		return k.Sign(t, nil, of.Claims(with("exp", at.Add(time.Hour).Unix()), with("iat", nil)))
	}
	if _, denial := verify(v, token(of, now), now, of.Pair()); denial != accepted {
		t.Fatal(denial)
	}
	gone := make(chan struct{})
	release := sync.OnceFunc(func() { close(gone) })
	t.Cleanup(release)
	of.AnswerWith(func(http.ResponseWriter, *http.Request) bool { <-gone; return false })

	late := now.Add(59 * time.Second)
	_, denial := verify(v, token(of, late), late, of.Pair())
	wantDenial(t, "keys of 59 seconds ago", denial, accepted)
	_, denial = verify(v, token(other, late), late, other.Pair())
	wantDenial(t, "another issuer in the meantime", denial, accepted)

	release()
	of.AnswerWith(func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusBadGateway)
		return true
	})
	late = now.Add(2 * time.Minute)
	_, denial = verify(v, token(of, late), late, of.Pair())
	wantDenial(t, "keys of two minutes ago", denial, policy.IssuerUnavailable)
	_, denial = verify(v, token(of, late), late.Add(time.Second), of.Pair())
	wantDenial(t, "a second later", denial, policy.IssuerUnavailable)
	of.AnswerWith(nil)
	late = late.Add(time.Minute)
	_, denial = verify(v, token(of, late), late, of.Pair())
	wantDenial(t, "when the issuer is back", denial, accepted)
}

// Answers of an issuer that must not verify a token.
func TestIssuer_malicious(t *testing.T) {
	k := keyOf(jose.RS256, "k")
	small, err := json.Marshal(map[string]any{
		"kty": "RSA",
		"kid": "k",
		"e":   "AQAB",
		"n":   strings.Repeat("A", 80) + "E",
	})
	if err != nil {
		t.Fatal(err)
	}
	other := newIssuer(t, k)
	type lie func(of *issuer) func(http.ResponseWriter, *http.Request) bool
	discovery := func(text string) lie {
		return func(of *issuer) func(http.ResponseWriter, *http.Request) bool {
			return func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.HasPrefix(r.URL.Path, "/.well-known") {
					return false
				}
				_, _ = w.Write([]byte(strings.NewReplacer("SELF", of.URL, "OTHER", other.URL).Replace(text)))
				return true
			}
		}
	}
	keys := func(text string) lie {
		return func(*issuer) func(http.ResponseWriter, *http.Request) bool {
			return func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != "/jwks.json" {
					return false
				}
				_, _ = w.Write([]byte(text))
				return true
			}
		}
	}
	for name, lie := range map[string]lie{
		"discovery of another issuer": discovery(`{"issuer":"OTHER","jwks_uri":"OTHER/jwks.json"}`),
		"discovery without an issuer": discovery(`{"jwks_uri":"OTHER/jwks.json"}`),
		"jwks_uri that is a file":     discovery(`{"issuer":"SELF","jwks_uri":"file:///etc/passwd"}`),
		"jwks_uri inside":             discovery(`{"issuer":"SELF","jwks_uri":"http://169.254.169.254/latest"}`),
		"jwks_uri at another port":    discovery(`{"issuer":"SELF","jwks_uri":"OTHER/jwks.json"}`),
		"jwks_uri that is not there":  discovery(`{"issuer":"SELF"}`),
		"discovery that isn't JSON":   discovery(`<html>`),
		"jwks_uri twice":              discovery(`{"issuer":"SELF","jwks_uri":"OTHER/k","jwks_uri":"SELF/jwks.json"}`),
		"a name twice, inside": discovery(
			`{"issuer":"SELF","jwks_uri":"SELF/jwks.json","x":[{"y":1,"y":2}]}`,
		),
		"keys twice":                    keys(`{"keys":[],"keys":[` + mustKey(t, k) + `]}`),
		"another key with a name twice": keys(`{"keys":[` + mustKey(t, k) + `,{"x":1,"x":2}]}`),
		"no keys":                       keys(`{"keys":[]}`),
		"keys that are not keys":        keys(`{"keys":[7,"x",{"kty":"unheard of"},null]}`),
		"a symmetric key":               keys(`{"keys":[{"kty":"oct","kid":"k","k":"c2VjcmV0"}]}`),
		"a small RSA key":               keys(`{"keys":[` + string(small) + `]}`),
		"a key for encryption":          keys(`{"keys":[` + strings.Replace(mustKey(t, k), `"sig"`, `"enc"`, 1) + `]}`),
		"a set without end":             keys(`{"keys":[` + strings.Repeat(" ", 600<<10) + mustKey(t, k) + `]}`),
		"a set that breaks off":         keys(`{"keys":[` + mustKey(t, k)),
		"a redirect to a set of keys": func(*issuer) func(http.ResponseWriter, *http.Request) bool {
			return func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != "/jwks.json" {
					return false
				}
				http.Redirect(w, r, other.URL+"/jwks.json", http.StatusFound)
				return true
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			of := newIssuer(t, k)
			of.AnswerWith(lie(of))
			_, denial := verify(newVerifier(t), k.Sign(t, nil, of.Claims()), now, of.Pair())
			wantDenial(t, "Verify", denial, policy.IssuerUnavailable)
		})
	}
	if n := other.Fetches(); n != 0 {
		t.Errorf("the other issuer's keys were fetched %d times", n)
	}
}

func mustKey(t *testing.T, k key) string {
	t.Helper()
	text, err := k.Public().MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A pair with a JWKS URL needs no discovery, and the keys of one pair do not verify the
// tokens of another.
func TestKeys_jwksURL(t *testing.T) {
	mine, theirs := keyOf(jose.ES256, "same"), keyOf(jose.RS256, "same")
	a, b := newIssuer(t, mine), newIssuer(t, theirs)
	pairs := []snapshot.TokenIssuer{
		{Issuer: "https://a.example", Audience: "a", JWKSURL: a.URL + "/jwks.json"},
		{Issuer: "https://a.example", Audience: "b", JWKSURL: b.URL + "/jwks.json"},
	}
	v := newVerifier(t)
	as := func(audience string) map[string]any {
		return a.Claims(with("iss", "https://a.example"), with("aud", audience))
	}
	_, denial := verify(v, mine.Sign(t, nil, as("a")), now, pairs...)
	wantDenial(t, "its own key", denial, accepted)
	_, denial = verify(v, theirs.Sign(t, nil, as("b")), now, pairs...)
	wantDenial(t, "the other's own key", denial, accepted)
	_, denial = verify(v, theirs.Sign(t, nil, as("a")), now, pairs...)
	wantDenial(t, "the other's key", denial, policy.InvalidToken)
}
