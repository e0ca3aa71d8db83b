package engine

import (
	"errors"
	"net/http"
)

// Multiplexed sends calls over the HTTP/2 connections of an upstream. Package h2upstream implements it.
type Multiplexed interface {
	// RoundTrip makes one try of a call. If the upstream has to be called with HTTP/1.1 instead, the outcome is
	// NotTried.
	RoundTrip(r *http.Request) (*http.Response, Outcome, error)
	// Close closes idle connections immediately, and the others when their calls are over.
	Close()
}

// ErrHTTP1 is an error of Multiplexed: the upstream chose HTTP/1.1 in the TLS handshake, but the call can't use
// HTTP/1.1.
var ErrHTTP1 = errors.New("the upstream doesn't offer HTTP/2")

// multiplex is one try of a call over HTTP/2. ok is false if it has to use HTTP/1.1.
func (u *Upstream) multiplex(r *http.Request, from Requester) (response *http.Response, t Try, ok bool) {
	if u.Multiplexed == nil || r.Header["Upgrade"] != nil {
		return nil, Try{}, false
	}
	response, outcome, err := u.Multiplexed.RoundTrip(r)
	t = Try{Upstream: u, Outcome: outcome, Err: err}
	switch {
	case outcome == NotTried:
		return nil, Try{}, false
	case err != nil:
		t.Again = outcome != Abandoned && (outcome == Unsent || IsIdempotent(r.Method)) && from.Kept()
		return nil, leftOr(r, t), true
	}
	t.Status, t.Again = response.StatusCode, IsIdempotent(r.Method) && from.Kept()
	return response, t, true
}
