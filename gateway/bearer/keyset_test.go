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
)

var accepted = policy.Denial{}

func wantDenial(t *testing.T, when string, got, want policy.Denial) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %d %s, want %d %s", when, got.Status, got.Code, want.Status, want.Code)
	}
}

// An issuer publishes a key, signs with it, and takes the old one back.
func TestRotationLosesNoCall(t *testing.T) {
	first, second := keyOf(jose.ES256, "first"), keyOf(jose.ES256, "second")
	of := newIssuer(t, first)
	v := newVerifier(t)
	at := now
	try := func(when string, k key, want policy.Denial) {
		t.Helper()
		_, denial := verify(
			v, k.sign(t, nil, of.claims(with("exp", at.Add(time.Hour).Unix()), with("iat", nil))), at,
			of.pair(),
		)
		wantDenial(t, when, denial, want)
	}
	try("at first", first, accepted)
	of.publish(first, second)
	at = at.Add(30 * time.Second)
	try("signed with the new key", second, accepted)
	try("signed with the old key", first, accepted)
	of.publish(second)
	try("the old key, taken back a moment ago", first, accepted)
	at = at.Add(6 * time.Minute)
	try("the old key has the keys fetched", first, accepted)
	eventually(t, func() bool { return of.fetches.Load() == 3 })
	eventually(t, func() bool {
		_, denial := verify(v, first.sign(t, nil, of.claims(with("exp", at.Add(time.Hour).Unix()))), at, of.pair())
		return denial == policy.InvalidToken
	})
	try("signed with the new key at last", second, accepted)
}

func TestUnknownKidsAskTheIssuerSeldom(t *testing.T) {
	of := newIssuer(t, keyOf(jose.ES256, "known"))
	v := newVerifier(t)
	for i := range 100 {
		made := keyOf(jose.ES256, "stranger")
		made.kid = strings.Repeat("k", i+1)
		_, denial := verify(v, made.sign(t, nil, of.claims()), now.Add(time.Duration(i)*time.Second), of.pair())
		wantDenial(t, "a made up kid", denial, policy.InvalidToken)
	}
	if n := of.fetches.Load(); n != 4 { // at 0, 30, 60 and 90 s
		t.Errorf("100 made up kids in 100 s had the keys fetched %d times, want 4", n)
	}
}

func TestConcurrentCallsShareOneFetch(t *testing.T) {
	k := keyOf(jose.ES256, "k")
	of := newIssuer(t, k)
	v := newVerifier(t)
	token := k.sign(t, nil, of.claims())
	var running sync.WaitGroup
	for range 50 {
		running.Go(func() {
			if _, denial := verify(v, token, now, of.pair()); denial != accepted {
				t.Errorf("refused: %v", denial)
			}
		})
	}
	running.Wait()
	if n := of.fetches.Load(); n != 1 {
		t.Errorf("fetched %d times, want once", n)
	}
}

// While one issuer hangs, tokens of others are verified; and its own as long as its
// keys are known and no more than a day old.
func TestAnIssuerThatIsAway(t *testing.T) {
	k := keyOf(jose.ES256, "k")
	of, other := newIssuer(t, k), newIssuer(t, k)
	v := newVerifier(t)
	token := func(of *issuer, at time.Time) string {
		return k.sign(t, nil, of.claims(with("exp", at.Add(time.Hour).Unix()), with("iat", nil)))
	}
	if _, denial := verify(v, token(of, now), now, of.pair()); denial != accepted {
		t.Fatal(denial)
	}
	gone := make(chan struct{})
	release := sync.OnceFunc(func() { close(gone) })
	t.Cleanup(release)
	of.lying(func(http.ResponseWriter, *http.Request) bool { <-gone; return false })

	late := now.Add(23 * time.Hour)
	_, denial := verify(v, token(of, late), late, of.pair())
	wantDenial(t, "keys of yesterday", denial, accepted)
	_, denial = verify(v, token(other, late), late, other.pair())
	wantDenial(t, "another issuer meanwhile", denial, accepted)

	release()
	of.lying(func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(http.StatusBadGateway); return true })
	late = now.Add(48 * time.Hour)
	_, denial = verify(v, token(of, late), late, of.pair())
	wantDenial(t, "keys that are too old", denial, policy.IssuerUnavailable)
	_, denial = verify(v, token(of, late), late.Add(time.Second), of.pair())
	wantDenial(t, "and at once again", denial, policy.IssuerUnavailable)
	of.lying(nil)
	late = late.Add(time.Minute)
	_, denial = verify(v, token(of, late), late, of.pair())
	wantDenial(t, "when it is back", denial, accepted)
}

// What an issuer may not answer. None of it may verify a token, and none of it may
// bring anything down.
func TestIssuersThatLie(t *testing.T) {
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
	elsewhere := newIssuer(t, k)
	discovery := func(text string) func(*issuer) func(http.ResponseWriter, *http.Request) bool {
		return func(of *issuer) func(http.ResponseWriter, *http.Request) bool {
			return func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.HasPrefix(r.URL.Path, "/.well-known") {
					return false
				}
				_, _ = w.Write([]byte(strings.NewReplacer("SELF", of.url, "ELSEWHERE", elsewhere.url).Replace(text)))
				return true
			}
		}
	}
	keys := func(text string) func(*issuer) func(http.ResponseWriter, *http.Request) bool {
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
	for name, lie := range map[string]func(*issuer) func(http.ResponseWriter, *http.Request) bool{
		"discovery of another issuer": discovery(`{"issuer":"ELSEWHERE","jwks_uri":"ELSEWHERE/jwks.json"}`),
		"discovery without an issuer": discovery(`{"jwks_uri":"ELSEWHERE/jwks.json"}`),
		"jwks_uri that is a file":     discovery(`{"issuer":"SELF","jwks_uri":"file:///etc/passwd"}`),
		"jwks_uri inside":             discovery(`{"issuer":"SELF","jwks_uri":"http://169.254.169.254/latest"}`),
		"jwks_uri at another port":    discovery(`{"issuer":"SELF","jwks_uri":"ELSEWHERE/jwks.json"}`),
		"jwks_uri that is not there":  discovery(`{"issuer":"SELF"}`),
		"discovery that is no JSON":   discovery(`<html>`),
		"no keys":                     keys(`{"keys":[]}`),
		"keys that are no keys":       keys(`{"keys":[7,"x",{"kty":"unheard of"},null]}`),
		"a symmetric key":             keys(`{"keys":[{"kty":"oct","kid":"k","k":"c2VjcmV0"}]}`),
		"a small RSA key":             keys(`{"keys":[` + string(small) + `]}`),
		"a key for encryption":        keys(`{"keys":[` + strings.Replace(mustKey(t, k), `"sig"`, `"enc"`, 1) + `]}`),
		"a set without end":           keys(`{"keys":[` + strings.Repeat(" ", 600<<10) + mustKey(t, k) + `]}`),
		"a set that breaks off":       keys(`{"keys":[` + mustKey(t, k)),
		"a redirect to a set of keys": func(*issuer) func(http.ResponseWriter, *http.Request) bool {
			return func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != "/jwks.json" {
					return false
				}
				http.Redirect(w, r, elsewhere.url+"/jwks.json", http.StatusFound)
				return true
			}
		},
	} {
		of := newIssuer(t, k)
		of.lying(lie(of))
		_, denial := verify(newVerifier(t), k.sign(t, nil, of.claims()), now, of.pair())
		wantDenial(t, name, denial, policy.IssuerUnavailable)
	}
	if n := elsewhere.fetches.Load(); n != 0 {
		t.Errorf("keys were fetched from elsewhere %d times", n)
	}
}

func mustKey(t *testing.T, k key) string {
	t.Helper()
	text, err := k.public().MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A pair that names the address of its keys needs no discovery, and the keys of one
// pair do not verify the tokens of another.
func TestKeysOfAnAddress(t *testing.T) {
	mine, theirs := keyOf(jose.ES256, "same"), keyOf(jose.RS256, "same")
	a, b := newIssuer(t, mine), newIssuer(t, theirs)
	pairs := []snapshot.TokenIssuer{
		{Issuer: "https://a.example", Audience: "a", JWKSURL: a.url + "/jwks.json"},
		{Issuer: "https://a.example", Audience: "b", JWKSURL: b.url + "/jwks.json"},
	}
	v := newVerifier(t)
	as := func(audience string) map[string]any {
		return a.claims(with("iss", "https://a.example"), with("aud", audience))
	}
	_, denial := verify(v, mine.sign(t, nil, as("a")), now, pairs...)
	wantDenial(t, "its own key", denial, accepted)
	_, denial = verify(v, theirs.sign(t, nil, as("b")), now, pairs...)
	wantDenial(t, "the other's own key", denial, accepted)
	_, denial = verify(v, theirs.sign(t, nil, as("a")), now, pairs...)
	wantDenial(t, "the other's key", denial, policy.InvalidToken)
}

// eventually waits for what another goroutine does.
func eventually(t *testing.T, done func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if done() {
			return
		}
	}
	t.Fatal("it did not happen")
}
