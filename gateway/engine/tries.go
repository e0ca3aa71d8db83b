package engine

import "net/http"

// Tries chooses the upstream of each try of a call, and learns how each try ended.
type Tries interface {
	// Next returns the upstream of the next try, nil if there is none: then the call ends as its last try did. It is
	// called first with the zero Try, for which it must return an upstream, and then once for each try, when the head
	// of the response has arrived or the try has failed. It must return nil unless the call can be sent again.
	Next(last Try) *Upstream
}

// Try is how one try of a call ended.
type Try struct {
	Upstream *Upstream
	Outcome  Outcome
	Status   int   // of the response; 0: none
	Err      error // why there is no response; nil with one

	// Again reports whether the call can be sent again: no byte of a response was passed on, or was received if the try
	// failed, and either nothing of the call was sent, or its method is idempotent and its body was kept.
	Again bool
}

// Outcome is how a try ended.
type Outcome int

// The outcomes of a try. Abandoned says nothing about the upstream.
const (
	NotTried  Outcome = iota // there was no try yet
	Answered                 // with a response
	Unsent                   // connecting failed, or the connection ended before anything of the call was sent
	BrokenOff                // the connection ended without a response, or something else arrived
	TimedOut                 // while the request was sent, or before the head of the response was complete
	Abandoned                // the caller has left, or did not send all of the body
)

// MaxKept is the longest body that is kept to be sent again, in bytes.
const MaxKept = MaxPlainBody

// IsIdempotent reports whether a request with the method means the same when it is sent again (RFC 9110, 9.2.2).
func IsIdempotent(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, http.MethodPut, http.MethodDelete:
		return true
	}
	return false
}
