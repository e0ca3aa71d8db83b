package providers

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"postern/platform/federation"
)

// keysEvery is how often one issuer's keys are fetched at most, whatever kids its
// tokens name and whatever their signatures are: made up ones must not become calls to
// it. A key that it begins to sign with is learned no later than this. It is as often
// as where tokens are verified by keys (package bearer).
const keysEvery = 30 * time.Second

// errJustFetched and errJustFailed say that keys were asked for a moment ago: with success, so
// that a token which none of them verifies is a bad one, and without.
var (
	errJustFetched = errors.New("its keys were fetched a moment ago")
	errJustFailed  = errors.New("its keys could not be had a moment ago")
)

// seldom lets requests for one key set through, one in keysEvery. It stands below
// go-oidc's key set, which keeps what it has when a fetch fails, and which asks for
// one call at a time.
type fetchLimit struct {
	under http.RoundTripper
	now   func() time.Time

	mu     sync.Mutex
	tried  time.Time // when the last one began
	failed bool      // whether it brought no keys, or has not yet
}

// limitedKeyClient is the client for one key set.
func (s *Set) limitedKeyClient() *http.Client {
	client := federation.KeyClient(s.client())
	gate := &fetchLimit{under: client.Transport, now: s.now}
	if gate.now == nil {
		gate.now = time.Now
	}
	client.Transport = gate
	return client
}

// RoundTrip implements http.RoundTripper.
func (g *fetchLimit) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := g.enter(); err != nil {
		return nil, err
	}
	answer, err := g.under.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(answer.Body) // which the client below bounds
	_ = answer.Body.Close()
	if err != nil {
		return nil, err
	}
	answer.Body = io.NopCloser(bytes.NewReader(text))
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if answer.StatusCode == http.StatusOK && json.Unmarshal(text, &set) == nil {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.failed = false
	}
	return answer, nil
}

func (g *fetchLimit) enter() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch now := g.now(); {
	case g.tried.IsZero() || now.Sub(g.tried) >= keysEvery:
		g.tried, g.failed = now, true
		return nil
	case g.failed:
		return errJustFailed
	}
	return errJustFetched
}
