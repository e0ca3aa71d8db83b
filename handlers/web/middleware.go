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

func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey).(string)
	return id
}

// Observe gives each request an id, writes one log line for it and turns a panic
// into a 500. Neither query nor headers are logged: both can carry secrets.
func (s *Site) Observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, began := models.NewID("req"), time.Now()
		seen := &auditContext{
			principal:  access.Principal{RemoteAddr: r.RemoteAddr, RequestID: id},
			route:      r.Method,
			credential: s.hasCredential(r),
		}
		r = r.WithContext(context.WithValue(context.WithValue(r.Context(), requestIDKey, id), auditKey, seen))
		recorder := &statusRecorder{ResponseWriter: w}
		w.Header().Set("X-Request-Id", id)
		defer func() {
			if failure := recover(); failure != nil {
				if cause, ok := failure.(error); ok && errors.Is(cause, http.ErrAbortHandler) {
					panic(failure)
				}
				s.Log.Error("a handler panicked", "request", id, "panic", failure, "trace", string(debug.Stack()))
				if recorder.status != 0 {
					panic(http.ErrAbortHandler) // an answer has begun; nothing may be added to it
				}
				s.WriteProblem(recorder, r, fault.New(fault.Internal, "internal", "Something went wrong here."))
			}
			s.Log.Debug(
				"request",
				"request",
				id,
				"method",
				r.Method,
				"path",
				RedactPath(r.URL.Path),
				"status",
				recorder.status,
				"took",
				time.Since(began),
			)
		}()
		next.ServeHTTP(recorder, r)
		s.recordRefusal(r.Context(), seen)
	})
}

// RedactPath is the path with every segment hidden that could be a secret: claim
// and sign-in codes stand in paths, and people paste keys where ids belong.
func RedactPath(path string) string {
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		if len(segment) > MaxIDLength {
			segments[i] = "***"
		}
	}
	return strings.Join(segments, "/")
}

// MaxIDLength is the length of a team's id. Codes, keys and tokens are longer;
// names may be as well, and are hidden with them.
const MaxIDLength = len("team_") + 26

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

// Flush implements http.Flusher, which Gin asks for by name.
func (r *statusRecorder) Flush() { _ = http.NewResponseController(r.ResponseWriter).Flush() }

// Unwrap lets http.ResponseController reach the connection.
func (r *statusRecorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// SecureHeaders goes with every answer. Nothing here is ever framed, and scripts
// and styles come from our own files only.
func (s *Site) SecureHeaders(next http.Handler) http.Handler {
	isSecure := s.requiresTLS()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' "+
			"data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		if isSecure {
			h.Set("Strict-Transport-Security", strictTransport)
		}
		if !strings.HasPrefix(r.URL.Path, "/static/") {
			h.Set("Cache-Control", "no-store")
		}
		r.Body = http.MaxBytesReader(w, r.Body, MaxBody+1)
		next.ServeHTTP(w, r)
	})
}

// strictTransport keeps browsers from asking this host without TLS for a year (RFC
// 6797). Subdomains are left out: they may be projects of a gateway without TLS.
const strictTransport = "max-age=31536000"

// requiresTLS reports whether browsers reach this server over https by a name that is
// its own. On localhost the header would hold for every other program of the machine.
func (s *Site) requiresTLS() bool {
	u, err := url.Parse(s.Config.PublicURL)
	return err == nil && u.Scheme == "https" && u.Hostname() != "localhost" &&
		!strings.HasSuffix(u.Hostname(), ".localhost")
}

// RequireValidText refuses addresses that name something no database could keep:
// PostgreSQL takes neither NUL nor what is not UTF-8.
func (s *Site) RequireValidText(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !ValidText(r.URL.Path) {
			s.WriteProblem(w, r, NotFound())
			return
		}
		for _, values := range r.URL.Query() {
			if !ValidText(values...) {
				s.WriteProblem(w, r, fault.New(fault.Malformed, "malformed", "The query holds characters that are no text."))
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

func ValidText(values ...string) bool {
	return !slices.ContainsFunc(
		values,
		func(s string) bool { return !utf8.ValidString(s) || strings.ContainsRune(s, 0) },
	)
}

func (s *Site) RefuseCrossOrigin(w http.ResponseWriter, r *http.Request) {
	s.WriteProblem(w, r, fault.New(fault.Forbidden, "cross_origin", "This request comes from another site, and writes "+
		"from there are refused."))
}

// WantsPage tells a browser that navigates from a client of the API.
func WantsPage(r *http.Request) bool {
	return !strings.HasPrefix(r.URL.Path, "/api/") && r.URL.Path != "/proxy" &&
		strings.Contains(r.Header.Get("Accept"), "text/html")
}
