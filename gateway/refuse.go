package gateway

import (
	"net/http"
	"time"

	"postern/core/policy"
)

// Header values that all calls share: net/http only reads them.
var (
	jsonType   = []string{"application/json"}
	challenges = byDenial(func(d policy.Denial) []string { return []string{d.Challenge()} })
)

// bodies has the JSON body of every denial.
var bodies = byDenial(policy.Denial.Body)

func byDenial[T any](of func(policy.Denial) T) map[policy.Denial]T {
	out := map[policy.Denial]T{}
	for _, d := range policy.Denials() {
		out[d] = of(d)
	}
	return out
}

// drainTimeout bounds how long net/http reads the rest of an unwanted body to make the
// connection ready for the next request.
const drainTimeout = 5 * time.Second

// refuse answers with a denial.
func refuse(w http.ResponseWriter, r *http.Request, d policy.Denial) {
	refuseWith(w, r, d, challenges[d], bodies[d], false)
}

// refuseWith is refuse with another challenge and body, and returns how many bytes of the body were sent. A chunked one
// has no Content-Length.
func refuseWith(
	w http.ResponseWriter, r *http.Request, d policy.Denial, challenge []string, body []byte, chunked bool,
) int64 {
	if isGRPC(r) {
		refuseGRPC(w, d)
		return 0
	}
	h := w.Header()
	h["Content-Type"] = jsonType
	if first(challenge) != "" {
		h["Www-Authenticate"] = challenge
	}
	if r.ContentLength != 0 {
		setReadDeadline(w, drainTimeout)
	}
	w.WriteHeader(d.Status)
	if chunked {
		flush(w)
	}
	n, _ := w.Write(body) // an error means that the caller is gone
	if r.Method == http.MethodHead {
		return 0 // net/http accepts the body and does not send it
	}
	return int64(n)
}

// The functions below assert the optional interfaces of http.ResponseWriter themselves: an
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

// deadline returns the time in from now, and no deadline for 0.
func deadline(in time.Duration) time.Time {
	if in == 0 {
		return time.Time{}
	}
	return time.Now().Add(in)
}
