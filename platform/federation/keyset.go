package federation

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"

	"postern/platform/exactjson"
	"postern/platform/traces"
)

// maxSetKeys is how many keys of a set are read.
const maxSetKeys = 100

// The ages of keys that were fetched.
const (
	refreshKeysAfter = 30 * time.Second // older ones are fetched again in the background
	maxKeyAge        = 60 * time.Second // older ones verify nothing: the issuer may have withdrawn one
)

// KeySet has the keys of an issuer, at most maxKeyAge old. go-oidc keeps the keys of one fetch until a token names
// another one, so each fetch gets a set of go-oidc's. It fetches with the context that its set was created with:
// without that of the caller, whose trace the fetch belongs to.
type KeySet struct {
	address string
	client  *http.Client
	now     func() time.Time
	caller  atomic.Pointer[traces.Span] // of the latest caller that is recorded; nil: none verifies now

	mu         sync.Mutex
	current    *oidc.RemoteKeySet
	fetched    time.Time // when the last successful fetch began, zero before the first
	refreshing bool
}

// NewKeySet returns the keys at an address. They are fetched with the client, which KeyClient returns. now is the
// clock, nil for time.Now.
func NewKeySet(client *http.Client, address string, now func() time.Time) *KeySet {
	set, traced := &KeySet{address: address, now: now}, *client
	if now == nil {
		set.now = time.Now
	}
	traced.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
		began := set.now()
		ctx := traces.For(traces.With(r.Context(), set.caller.Load()), "jwks")
		response, err := client.Transport.RoundTrip(r.WithContext(ctx))
		if err == nil && response.StatusCode == http.StatusOK {
			set.mu.Lock()
			defer set.mu.Unlock()
			set.fetched = began
		}
		return response, err
	})
	set.client = &traced
	set.current = set.newRemote()
	return set
}

func (s *KeySet) newRemote() *oidc.RemoteKeySet {
	return oidc.NewRemoteKeySet(oidc.ClientContext(context.Background(), s.client), s.address)
}

// VerifySignature implements oidc.KeySet.
func (s *KeySet) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	if span := traces.Of(ctx); span != nil {
		s.caller.Store(span)
		defer s.caller.CompareAndSwap(span, nil)
	}
	return s.young(token).VerifySignature(ctx, token)
}

// young returns keys that are at most maxKeyAge old, or will be fetched when they are used.
func (s *KeySet) young(token string) *oidc.RemoteKeySet {
	s.mu.Lock()
	defer s.mu.Unlock()
	age := s.now().Sub(s.fetched)
	switch {
	case s.fetched.IsZero():
	case age >= maxKeyAge:
		s.current, s.fetched = s.newRemote(), time.Time{}
	case age >= refreshKeysAfter && !s.refreshing:
		s.refreshing = true
		go s.refresh(token)
	}
	return s.current
}

// refresh fetches the keys again by verifying a token with a set of go-oidc's that doesn't have any yet. The keys that
// there are stay in use if that fails.
func (s *KeySet) refresh(token string) {
	next := s.newRemote()
	_, err := next.VerifySignature(context.Background(), token)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refreshing = false
	if err == nil || !strings.HasPrefix(err.Error(), "fetching keys") {
		s.current = next
	}
}

// KeyClient returns a copy of a bounded client for key sets. go-oidc refuses a whole
// set for one key that it cannot read, and quotes that key in its error; RFC 7517, 5
// has such keys ignored.
func KeyClient(client *http.Client) *http.Client {
	out := *client
	out.Timeout = discoveryTimeout
	next := client.Transport
	out.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
		response, err := next.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil {
			return nil, err
		}
		if response.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("the key set's URL returned %d", response.StatusCode)
		}
		readable, err := readableKeys(text)
		if err != nil {
			return nil, err
		}
		response.Body = io.NopCloser(bytes.NewReader(readable))
		return response, nil
	})
	return &out
}

// readableKeys returns the key set without the keys that cannot be read.
func readableKeys(set []byte) ([]byte, error) {
	var all struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if exactjson.Unmarshal(set, &all) != nil {
		return nil, errors.New("its keys aren't a JSON Web Key Set")
	}
	readable := []json.RawMessage{}
	for _, raw := range all.Keys[:min(len(all.Keys), maxSetKeys)] {
		var key jose.JSONWebKey
		if json.Unmarshal(raw, &key) == nil && key.Valid() {
			readable = append(readable, raw)
		}
	}
	all.Keys = readable
	return json.Marshal(all)
}
