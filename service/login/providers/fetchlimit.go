package providers

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4/json"

	"postern/platform/exactjson"
	"postern/platform/federation"
)

// keysEvery is the shortest time between two fetches of one issuer's keys, whatever key
// ids and signatures tokens have: forged tokens must not become requests to it. A new key
// is known no later than this. gateway/bearer has the same limit.
const keysEvery = 30 * time.Second

// errJustFetched and errJustFailed refuse a fetch within keysEvery of a successful one,
// after which a token that no key verifies is invalid, and of one that failed.
var (
	errJustFetched = errors.New("its keys were fetched a moment ago")
	errJustFailed  = errors.New("its keys could not be fetched a moment ago")
)

// fetchLimit lets one request for a key set through per keysEvery. It is the transport of
// go-oidc's key set, which keeps its keys when a fetch fails and has one fetch running at
// a time.
type fetchLimit struct {
	under http.RoundTripper
	now   func() time.Time

	mu     sync.Mutex
	tried  time.Time // when the last request began
	failed bool      // the last request brought no keys, or is still running
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
	text, err := io.ReadAll(answer.Body) // bounded by the client below
	_ = answer.Body.Close()
	if err != nil {
		return nil, err
	}
	answer.Body = io.NopCloser(bytes.NewReader(text))
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if answer.StatusCode == http.StatusOK && exactjson.Unmarshal(text, &set) == nil {
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
