package web

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"postern/platform/fault"
)

// Problem is the body of every error of the API (RFC 9457).
type Problem struct { //nolint:errname // its JSON is what RFC 9457 calls a problem
	Type      string         `json:"type" doc:"Always about:blank; code tells problems apart"`
	Title     string         `json:"title" doc:"The status code in words"`
	Status    int            `json:"status"`
	Detail    string         `json:"detail" doc:"What went wrong, for a person"`
	Code      string         `json:"code" doc:"What went wrong, for a program; stable"`
	RequestID string         `json:"request_id,omitempty" doc:"Names this request in the server's log"`
	Errors    []ProblemField `json:"errors,omitempty"`
}

// ProblemField points at one wrong field of the request.
type ProblemField struct {
	Pointer string `json:"pointer" doc:"JSON Pointer (RFC 6901) into the body; what stands in the query is named the same way"`
	Detail  string `json:"detail"`
	Code    string `json:"code,omitempty"`
}

func (p *Problem) Error() string { return p.Code + ": " + p.Detail }

// GetStatus implements huma.StatusError.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType implements huma.ContentTypeFilter.
func (p *Problem) ContentType(string) string { return "application/problem+json" }

// StatusOf is the one place where errors become status codes.
func StatusOf(kind fault.Kind) int {
	switch kind {
	case fault.Malformed:
		return http.StatusBadRequest
	case fault.Unauthenticated:
		return http.StatusUnauthorized
	case fault.Forbidden:
		return http.StatusForbidden
	case fault.NotFound:
		return http.StatusNotFound
	case fault.Conflict:
		return http.StatusConflict
	case fault.Gone:
		return http.StatusGone
	case fault.Stale:
		return http.StatusPreconditionFailed
	case fault.TooLarge:
		return http.StatusRequestEntityTooLarge
	case fault.Unsupported:
		return http.StatusUnsupportedMediaType
	case fault.Invalid:
		return http.StatusUnprocessableEntity
	case fault.TooMany:
		return http.StatusTooManyRequests
	case fault.Unavailable:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// ProblemOf shapes any error for the caller. The text of an unknown one stays
// inside; the request id leads from the answer to the log.
func ProblemOf(err error, requestID string) *Problem {
	if ready, ok := errors.AsType[*Problem](err); ok {
		out := *ready
		out.RequestID = requestID
		return &out
	}
	known, ok := errors.AsType[*fault.Error](err)
	if !ok {
		known = fault.New(fault.Internal, "internal", "Something went wrong here. The server's log has the cause "+
			"under this request's id.")
	}
	status := StatusOf(known.Kind)
	p := &Problem{
		Type:      "about:blank",
		Title:     http.StatusText(status),
		Status:    status,
		Detail:    known.Public,
		Code:      known.Code,
		RequestID: requestID,
	}
	for _, f := range known.Fields {
		p.Errors = append(p.Errors, ProblemField{Pointer: f.Pointer, Detail: f.Detail, Code: f.Code})
	}
	return p
}

func writeProblemJSON(w http.ResponseWriter, r *http.Request, err error) {
	p := ProblemOf(err, RequestID(r.Context()))
	w.Header().Set("Content-Type", "application/problem+json")
	SetProblemHeaders(w.Header(), p, err)
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // the caller is gone when this fails
}

// SetProblemHeaders sets what a refusal's header says beside its body: how to sign in, and
// in how many seconds to come back (RFC 9110, 11.6.1 and 10.2.3).
func SetProblemHeaders(h http.Header, p *Problem, err error) {
	if needsChallenge(p) {
		h.Set("WWW-Authenticate", challenge(p.Code))
	}
	SetRetryAfter(h, err)
}

func SetRetryAfter(h http.Header, err error) {
	if wait := fault.RetryAfter(err); wait > 0 {
		h.Set("Retry-After", strconv.FormatInt(int64((wait+time.Second-1)/time.Second), 10))
	}
}

// BearerChallenge is what a caller without a credential is told (RFC 6750, 3).
const BearerChallenge = `Bearer realm="postern"`

// challenges tells whether an answer says how to authenticate: it must with 401
// (RFC 9110, 15.5.2), and does where a token has too little (RFC 6750, 3.1).
func needsChallenge(p *Problem) bool {
	return p.Status == http.StatusUnauthorized || p.Code == "insufficient_scope"
}

// challenge names the error only where a credential was sent, as RFC 6750 (3.1)
// asks.
func challenge(code string) string {
	if code == "invalid_token" || code == "insufficient_scope" {
		return BearerChallenge + `, error="` + code + `"`
	}
	return BearerChallenge
}

func NotFound() error {
	return fault.New(fault.NotFound, "not_found", "There is nothing at this address.")
}

func MethodNotAllowed(method string) error {
	return &Problem{
		Type:   "about:blank",
		Title:  http.StatusText(http.StatusMethodNotAllowed),
		Status: http.StatusMethodNotAllowed,
		Detail: method + " is not among the methods of this address; Allow names them.",
		Code:   "method_not_allowed",
	}
}
