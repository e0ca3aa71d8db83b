package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

type contextKey int

const (
	requestIDKey contextKey = iota
	principalKey
	auditKey
)

// RequestID returns the id of the request that ctx belongs to, as in X-Request-Id.
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey).(string)
	return id
}

// Observe gives each request an id, writes one log line for it, audits its refusal and
// turns a panic into a 500. Neither query nor headers are logged: both can hold secrets.
func (s *Site) Observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, began := models.NewID("req"), time.Now()
		audited := &auditContext{
			principal:  access.Principal{RemoteAddr: r.RemoteAddr, RequestID: id},
			route:      r.Method,
			credential: s.hasCredential(r),
		}
		r = r.WithContext(context.WithValue(context.WithValue(r.Context(), requestIDKey, id), auditKey, audited))
		recorder := &statusRecorder{ResponseWriter: w}
		w.Header().Set("X-Request-Id", id)
		defer func() {
			if failure := recover(); failure != nil {
				s.answerPanic(recorder, r, failure)
			}
			if surface := surfaceOf(r, w.Header()); s.Measure != nil && surface != "" {
				s.Measure(surface, recorder.status, time.Since(began))
			}
			s.logOf(r.Context()).Debug("request",
				"method", r.Method,
				"path", RedactPath(r.URL.Path),
				"status", recorder.status,
				"took", time.Since(began),
			)
		}()
		next.ServeHTTP(recorder, r)
		s.recordRefusal(r.Context(), audited)
	})
}

// surfaceOf returns the part of the control plane that answers a request, for measurements;
// "" for probes, and for streams of events, which last as long as their reader wishes.
func surfaceOf(r *http.Request, answer http.Header) string {
	path := r.URL.Path
	switch {
	case IsProbe(r) || strings.HasPrefix(answer.Get("Content-Type"), "text/event-stream"):
		return ""
	case strings.HasPrefix(path, "/api/") || path == "/proxy" || path == "/openapi.json":
		return "api"
	case strings.HasPrefix(path, "/oauth/"):
		return "login"
	case strings.HasPrefix(path, "/scim/"):
		return "scim"
	}
	return "dashboard"
}

// answerPanic logs a panic of a handler and answers 500. It panics on if the handler
// asked for that, or if an answer has begun, which must not look complete.
func (s *Site) answerPanic(w *statusRecorder, r *http.Request, failure any) {
	if cause, ok := failure.(error); ok && errors.Is(cause, http.ErrAbortHandler) {
		panic(failure)
	}
	s.logOf(r.Context()).Error("a handler panicked",
		"panic", failure,
		"trace", string(debug.Stack()),
	)
	if w.status != 0 {
		panic(http.ErrAbortHandler)
	}
	s.WriteProblem(w, r, fault.New(fault.Internal, "internal", "Something went wrong."))
}

// RedactPath returns path with every segment masked that could be a secret: claim and
// sign-in codes are part of paths, and people paste keys where ids belong.
func RedactPath(path string) string {
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		if len(segment) > MaxIDLength {
			segments[i] = "***"
		}
	}
	return strings.Join(segments, "/")
}

// MaxIDLength is the length of the longest id, which is a team's. Codes, keys and tokens
// are longer; some names are too, and are masked with them.
const MaxIDLength = len("team_") + 26

// statusRecorder keeps the status of an answer, 0 before it begins.
type statusRecorder struct {
	http.ResponseWriter
	status int
}

func (r *statusRecorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *statusRecorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	return r.ResponseWriter.Write(b)
}

// Flush implements http.Flusher, which Gin requires.
func (r *statusRecorder) Flush() { _ = http.NewResponseController(r.ResponseWriter).Flush() }

// Unwrap lets http.ResponseController reach the connection.
func (r *statusRecorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// RequireValidText refuses paths and queries with NUL or invalid UTF-8, which PostgreSQL
// cannot store, and queries of which the standard library would leave out a part.
func (s *Site) RequireValidText(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !ValidText(r.URL.Path) {
			s.WriteProblem(w, r, NotFound())
			return
		}
		query, err := url.ParseQuery(r.URL.RawQuery)
		if err != nil {
			s.WriteProblem(w, r, errMalformedQuery.Because(err))
			return
		}
		for name, values := range query {
			if !ValidText(name) || !ValidText(values...) {
				s.WriteProblem(w, r, errInvalidQuery)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

var (
	errInvalidQuery = fault.New(
		fault.Malformed, "malformed", "The query contains a NUL character or invalid UTF-8.",
	)
	errMalformedQuery = fault.New(fault.Malformed, "malformed",
		"The query can't be read. Separate parameters with &, and use %s for a percent sign and %s for a semicolon.",
		"%25", "%3B",
	)
)

// ValidText reports whether all values are UTF-8 without NUL.
func ValidText(values ...string) bool {
	return !slices.ContainsFunc(values, func(s string) bool {
		return !utf8.ValidString(s) || strings.ContainsRune(s, 0)
	})
}

// RefuseCrossOrigin answers a write that another site sent with 403.
func (s *Site) RefuseCrossOrigin(w http.ResponseWriter, r *http.Request) {
	s.WriteProblem(w, r, fault.New(fault.Forbidden, "cross_origin", "This request comes from another site. Changes "+
		"from other sites are refused."))
}
