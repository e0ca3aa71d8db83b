package engine

import "net/http"

// Tries chooses the upstream for each try of a call, and gets the result of each try.
type Tries interface {
	// Next returns the upstream for the next try. If it returns nil, the call ends with the result of the last try. It
	// is first called with the zero Try, for which it must return an upstream, and then after each try, when the head
	// of the response has arrived or the try has failed. It must return nil unless the call can be sent again.
	Next(last Try) *Upstream
}

// Try is the result of one try of a call.
type Try struct {
	Upstream *Upstream
	Outcome  Outcome
	Status   int   // of the response; 0: none
	Err      error // why there is no response; nil with one

	// Again reports whether the call can be sent again. No byte of a response may have been passed on, or received if
	// the try failed. Also, either nothing of the call was sent, or its method is idempotent and its body was kept.
	Again bool
}

// Outcome says how a try ended.
type Outcome int

// The outcomes of a try. Abandoned says nothing about the upstream.
const (
	NotTried  Outcome = iota // there was no try yet
	Answered                 // there was a response
	Unsent                   // connecting failed, or the connection ended before anything of the call was sent
	BrokenOff                // the connection ended without a response, or something else arrived
	TimedOut                 // while the request was sent, or before the head of the response was complete
	Abandoned                // the caller has left, or did not send all of the body
)

// MaxKept is the length of the longest body that is kept for further tries, in bytes.
const MaxKept = MaxPlainBody

// IsIdempotent reports whether requests with the method have the same effect when they are sent again (RFC 9110,
// 9.2.2).
func IsIdempotent(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, http.MethodPut, http.MethodDelete:
		return true
	}
	return false
}
