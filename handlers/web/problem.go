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
	Type      string         `json:"type" doc:"Always about:blank. Use code to distinguish problems"`
	Title     string         `json:"title" doc:"Text of the status code"`
	Status    int            `json:"status"`
	Detail    string         `json:"detail" doc:"Description of the problem and how to fix it"`
	Code      string         `json:"code" doc:"Stable error code for programs"`
	RequestID string         `json:"request_id,omitempty" doc:"ID of this request in the server log"`
	Errors    []ProblemField `json:"errors,omitempty"`
}

// ProblemField points at one wrong field of the request.
type ProblemField struct {
	In      string `json:"in,omitempty" enum:"body,query,header,path" doc:"Location of the field"`
	Pointer string `json:"pointer" doc:"JSON Pointer (RFC 6901) to the field in the body, or /name for a parameter or header"`
	Detail  string `json:"detail"`
	Code    string `json:"code,omitempty"`
}

func (p *Problem) Error() string { return p.Code + ": " + p.Detail }

// GetStatus implements huma.StatusError.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType implements huma.ContentTypeFilter.
func (p *Problem) ContentType(string) string { return "application/problem+json" }

// StatusOf returns the status code of a kind of error. It is the only place that maps
// them.
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

// ProblemOf returns err as the caller may see it. The text of an error that is not a fault is left out; the log
// contains it with the request's ID.
func ProblemOf(err error, requestID string) *Problem {
	if ready, ok := errors.AsType[*Problem](err); ok {
		out := *ready
		out.RequestID = requestID
		return &out
	}
	known, ok := errors.AsType[*fault.Error](err)
	if !ok {
		known = fault.New(fault.Internal, "internal", "Something went wrong. Search the server log for the ID of "+
			"this request.")
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
	_ = json.NewEncoder(w).Encode(p) // an error means that the caller is gone
}

// SetProblemHeaders sets the headers of a problem: WWW-Authenticate and Retry-After (RFC
// 9110, 11.6.1 and 10.2.3).
func SetProblemHeaders(h http.Header, p *Problem, err error) {
	if needsChallenge(p) {
		h.Set("WWW-Authenticate", challenge(p.Code))
	}
	SetRetryAfter(h, err)
}

// SetRetryAfter sets Retry-After, in whole seconds, if err has a time to retry at.
func SetRetryAfter(h http.Header, err error) {
	if wait := fault.RetryAfter(err); wait > 0 {
		h.Set("Retry-After", strconv.FormatInt(int64((wait+time.Second-1)/time.Second), 10))
	}
}

// BearerChallenge is the WWW-Authenticate header for a caller without a credential (RFC
// 6750, 3).
const BearerChallenge = `Bearer realm="postern"`

// needsChallenge reports whether an answer has a WWW-Authenticate header: with 401 it must
// (RFC 9110, 15.5.2), and for a token without the scope it should (RFC 6750, 3.1).
func needsChallenge(p *Problem) bool {
	return p.Status == http.StatusUnauthorized || p.Code == "insufficient_scope"
}

// challenge returns the WWW-Authenticate header. It names the error only if a credential
// was sent (RFC 6750, 3.1).
func challenge(code string) string {
	if code == "invalid_token" || code == "insufficient_scope" {
		return BearerChallenge + `, error="` + code + `"`
	}
	return BearerChallenge
}

// NotFound returns the error of an address without a route.
func NotFound() error {
	return fault.New(fault.NotFound, "not_found", "There is nothing at this URL. Check its spelling.")
}

// MethodNotAllowed returns the error of a route that does not have the method. Gin sets
// the Allow header.
func MethodNotAllowed(method string) error {
	return &Problem{
		Type:   "about:blank",
		Title:  http.StatusText(http.StatusMethodNotAllowed),
		Status: http.StatusMethodNotAllowed,
		Detail: "This URL doesn't support " + method + ". The Allow header lists the methods it supports.",
		Code:   "method_not_allowed",
	}
}
