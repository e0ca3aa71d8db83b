package providers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// discoveryWithin bounds a request for a discovery document, and one for a key set. It
// is what package bearer allows for the two.
const discoveryWithin = 5 * time.Second

// maxSetKeys is how many keys of a set are read.
const maxSetKeys = 100

// keyClient is the client for key sets: go-oidc refuses a whole set for one key that it
// cannot read, where RFC 7517, 5 has such keys ignored, and repeats what it cannot read
// in its error.
func (s *Set) keyClient() *http.Client {
	client := s.client()
	client.Timeout = discoveryWithin
	under := client.Transport
	client.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
		answer, err := under.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(answer.Body) // bounded by client
		_ = answer.Body.Close()
		if err != nil {
			return nil, err
		}
		if answer.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("the key set's address answers %d", answer.StatusCode)
		}
		readable, err := readableKeys(text)
		if err != nil {
			return nil, err
		}
		answer.Body = io.NopCloser(bytes.NewReader(readable))
		return answer, nil
	})
	return client
}

// readableKeys returns the key set with the keys that can be read.
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
