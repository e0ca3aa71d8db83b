package gateway

import (
	"net/http"
	"time"

	"postern/core/policy"
)

// Values of headers that are the same for every answer. net/http reads them
// only, so that all calls can share them.
var (
	jsonType   = []string{"application/json"}
	challenges = byDenial(func(d policy.Denial) []string { return []string{d.Challenge()} })
)

// bodies is the JSON of every denial.
var bodies = byDenial(policy.Denial.Body)

func byDenial[T any](of func(policy.Denial) T) map[policy.Denial]T {
	out := map[policy.Denial]T{}
	for _, d := range policy.Denials() {
		out[d] = of(d)
	}
	return out
}

// drainTimeout bounds how long net/http may wait for the rest of a body that
// nobody wants, when it makes the connection ready for the next request.
const drainTimeout = 5 * time.Second

// refuse answers for the gateway itself, and returns how many bytes of a body
// the caller was sent.
func refuse(w http.ResponseWriter, r *http.Request, d policy.Denial) int64 {
	h := w.Header()
	h["Content-Type"] = jsonType
	if d.Status == http.StatusUnauthorized {
		h["Www-Authenticate"] = challenges[d]
	}
	if r.ContentLength != 0 {
		setReadDeadline(w, drainTimeout)
	}
	w.WriteHeader(d.Status)
	n, _ := w.Write(bodies[d]) // it fails when the caller is gone: nobody to tell
	if r.Method == http.MethodHead {
		return 0 // net/http takes the body and keeps it to itself
	}
	return int64(n)
}

// The optional interfaces of http.ResponseWriter are asked for directly: an
// http.ResponseController would be an allocation for every call.

func setReadDeadline(w http.ResponseWriter, in time.Duration) {
	if d, ok := w.(interface{ SetReadDeadline(time.Time) error }); ok {
		_ = d.SetReadDeadline(deadline(in))
	}
}

func setWriteDeadline(w http.ResponseWriter, in time.Duration) {
	if d, ok := w.(interface{ SetWriteDeadline(time.Time) error }); ok {
		_ = d.SetWriteDeadline(deadline(in))
	}
}

func flush(w http.ResponseWriter) {
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}

// deadline is the time that much from now; none for 0.
func deadline(in time.Duration) time.Time {
	if in == 0 {
		return time.Time{}
	}
	return time.Now().Add(in)
}
