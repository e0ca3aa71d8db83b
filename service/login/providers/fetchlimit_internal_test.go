package providers

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"postern/service/login/tokencheck"
	"postern/testkit"
	"postern/testkit/idp"
)

// asking presents tokens to one issuer, at its own times.
type asking struct {
	t    *testing.T
	fake *idp.Fake
	set  *Set
	mu   sync.Mutex
	at   time.Time
}

func newAsking(t *testing.T) *asking {
	a := &asking{t: t, fake: idp.StartFake(t), at: time.Now()}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // with them, it asks again by itself
	a.set = &Set{HTTP: client, now: func() time.Time {
		a.mu.Lock()
		defer a.mu.Unlock()
		return a.at
	}}
	return a
}

// later moves the clock.
func (a *asking) later(by time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.at = a.at.Add(by)
}

// present gives the ID token that a key signs.
func (a *asking) present(key *rsa.PrivateKey, kid string) error {
	claims := map[string]any{
		"iss": a.fake.Issuer,
		"sub": "ana",
		"aud": idp.ClientID,
		"exp": time.Now().Add(time.Hour).Unix(),
	}
	token := idp.Sign(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: key, KeyID: kid}}, claims)
	_, err := a.set.Owner(a.t.Context(), Config{
		Type:     OIDC,
		Issuer:   a.fake.Issuer,
		ClientID: idp.ClientID,
	}, token, true)
	return err
}

func (a *asking) wants(when string, got, want error) {
	a.t.Helper()
	if !errors.Is(got, want) || (want == nil && got != nil) {
		a.t.Errorf("%s: %v, want %v", when, got, want)
	}
}

// becomes presents tokens until the result is want. go-oidc reports the end of a fetch a moment before it stores the
// keys and can begin another fetch: a caller in between gets the old result.
func (a *asking) becomes(when string, want error, key *rsa.PrivateKey, kid string) {
	a.t.Helper()
	testkit.Await(a.t, when, func() (error, bool) {
		got := a.present(key, kid)
		return got, errors.Is(got, want)
	})
}

func (a *asking) fetched(when string, want int) {
	a.t.Helper()
	if n := a.fake.Requests("/keys"); n != want {
		a.t.Errorf("%s: the keys were fetched %d times, want %d", when, n, want)
	}
}

func newKey(t *testing.T) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestKeys_forgedTokens(t *testing.T) {
	a, forger, next := newAsking(t), newKey(t), newKey(t)
	for i := range 100 {
		a.wants("a made up kid", a.present(forger, "forged-"+strconv.Itoa(i)), tokencheck.ErrRefused)
		a.wants("a kid of the issuer's", a.present(forger, idp.KeyID), tokencheck.ErrRefused)
	}
	a.fetched("200 forged tokens", 1)
	a.wants("an honest one", a.present(a.fake.Key, idp.KeyID), nil)
	a.fetched("an honest one", 1)

	a.fake.Switch(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/keys" {
			return false
		}
		idp.Answer(w, http.StatusOK, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{
			Key:       next.Public(),
			KeyID:     "key-2",
			Algorithm: "RS256",
			Use:       "sig",
		}}})
		return true
	})
	a.later(keysEvery - time.Second)
	a.wants("a new key, too early", a.present(next, "key-2"), tokencheck.ErrRefused)
	a.later(time.Second)
	a.becomes("a new key", nil, next, "key-2")
	a.wants("and again", a.present(next, "key-2"), nil)
	a.becomes("the old one", tokencheck.ErrRefused, a.fake.Key, idp.KeyID)
	a.fetched("a new key", 2)
}

// A token whose key could not be looked for is not called a bad one.
func TestKeys_unavailable(t *testing.T) {
	for what, answer := range testkit.ByName(map[string]func(w http.ResponseWriter){
		"fails":         func(w http.ResponseWriter) { w.WriteHeader(http.StatusBadGateway) },
		"answers HTML":  func(w http.ResponseWriter) { _, _ = w.Write([]byte("<html>")) },
		"cuts the line": func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
	}) {
		a := newAsking(t)
		a.fake.Switch(func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/keys" {
				answer(w)
			}
			return r.URL.Path == "/keys"
		})
		for range 20 {
			a.wants("an issuer that "+what, a.present(a.fake.Key, idp.KeyID), tokencheck.ErrUnavailable)
		}
		a.fetched("an issuer that "+what, 1)
		a.fake.Switch(nil)
		a.later(keysEvery)
		a.becomes("when it is back", nil, a.fake.Key, idp.KeyID)
	}
}

// A caller that comes while the first fetch ends finds its keys.
func TestKeys_concurrentFetch(t *testing.T) {
	a := newAsking(t)
	var running sync.WaitGroup
	for range 100 {
		running.Go(func() { a.wants("one of many", a.present(a.fake.Key, idp.KeyID), nil) })
	}
	running.Wait()
	a.fetched("100 at once", 1)
}

// late has the keys by the second time it is asked.
type late struct{ asked int }

func (l *late) VerifySignature(context.Context, string) ([]byte, error) {
	if l.asked++; l.asked == 1 {
		return nil, fmt.Errorf("fetching keys %w", errJustFetched)
	}
	return []byte("payload"), nil
}

func TestKeys_fetchedByOthers(t *testing.T) {
	w := observedKeys{KeySet: &late{}}
	payload, err := w.VerifySignature(t.Context(), "token")
	if err != nil || string(payload) != "payload" || w.unavailable {
		t.Errorf("%q, %v, away: %v", payload, err, w.unavailable)
	}
}
