package testkit

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Seen is a request as it reached an upstream, before any cleaning up.
type Seen struct {
	Method        string      `json:"method"`
	Target        string      `json:"target"` // the request line's, byte for byte
	Path          string      `json:"path"`   // as it was escaped
	Query         string      `json:"query"`  // without "?", byte for byte
	Protocol      string      `json:"protocol"`
	Host          string      `json:"host"`
	Headers       http.Header `json:"headers"`
	Body          []byte      `json:"body"` // base64 in JSON
	ContentLength int64       `json:"content_length"`
	Trailers      http.Header `json:"trailers"`
}

// Upstream is an HTTP server on loopback that answers every request with 200
// and a Seen as JSON, and remembers it.
type Upstream struct {
	URL string // http://127.0.0.1:<port>, without a slash at the end
	// HangUp closes the connections that there are.
	HangUp func()

	mu   sync.Mutex
	seen []Seen
}

// NewUpstream starts an upstream, which stops when the test ends.
func NewUpstream(t testing.TB) *Upstream {
	t.Helper()
	u := &Upstream{}
	server := httptest.NewServer(u)
	t.Cleanup(server.Close)
	u.URL, u.HangUp = server.URL, server.CloseClientConnections
	return u
}

// Requests are those that came so far, in the order of their arrival.
func (u *Upstream) Requests() []Seen {
	u.mu.Lock()
	defer u.mu.Unlock()
	return append([]Seen(nil), u.seen...)
}

// ServeHTTP is the upstream's answer.
func (u *Upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, "read the body: "+err.Error(), http.StatusBadRequest)
		return
	}
	seen := Seen{
		Method: r.Method, Target: r.RequestURI, Path: r.URL.EscapedPath(), Query: r.URL.RawQuery,
		Protocol: r.Proto, Host: r.Host, Headers: r.Header.Clone(), Body: body,
		ContentLength: r.ContentLength, Trailers: r.Trailer.Clone(),
	}
	u.mu.Lock()
	u.seen = append(u.seen, seen)
	u.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	// A caller that left before its answer is a case some tests make.
	_ = json.NewEncoder(w).Encode(seen)
}
