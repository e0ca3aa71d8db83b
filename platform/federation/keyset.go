package federation

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"

	"postern/platform/traces"
)

// maxSetKeys is how many keys of a set are read.
const maxSetKeys = 100

// KeySet has the keys of an issuer as go-oidc keeps them, which fetches them with the context that the set was created
// with: without that of the caller, whose trace the fetch belongs to.
type KeySet struct {
	remote *oidc.RemoteKeySet
	caller atomic.Pointer[traces.Span] // of the latest caller that is recorded; nil: none verifies now
}

// NewKeySet returns the keys at an address. They are fetched with the client, which KeyClient returns.
func NewKeySet(client *http.Client, address string) *KeySet {
	set, traced := &KeySet{}, *client
	traced.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
		ctx := traces.For(traces.With(r.Context(), set.caller.Load()), "jwks")
		return client.Transport.RoundTrip(r.WithContext(ctx))
	})
	set.remote = oidc.NewRemoteKeySet(oidc.ClientContext(context.Background(), &traced), address)
	return set
}

// VerifySignature implements oidc.KeySet.
func (s *KeySet) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	if span := traces.Of(ctx); span != nil {
		s.caller.Store(span)
		defer s.caller.CompareAndSwap(span, nil)
	}
	return s.remote.VerifySignature(ctx, token)
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
			return nil, fmt.Errorf("the key set's address answers %d", response.StatusCode)
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
	if json.Unmarshal(set, &all) != nil {
		return nil, errors.New("its keys are not a JSON Web Key Set")
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
