package handlers

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"postern/handlers/web"
	"postern/platform/fault"
)

// Readiness reports whether requests are served from a current state: err is nil if they
// are. The note is shown to the caller in either case; err is only logged.
type Readiness func(context.Context) (note string, err error)

// ErrStopping is the error of a Readiness while the server stops, which is logged
// already.
var ErrStopping = errors.New("the server is stopping")

// Probes returns the handler of /healthz, /readyz and /metrics on the gateway's listener.
func (s *Server) Probes() http.Handler {
	return s.Observe(s.SecureHeaders(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/healthz":
			s.health(w, r)
		case "/readyz":
			s.readiness(w, r, s.GatewayReady, &s.gatewayUnready)
		case "/metrics":
			s.showMetrics(w, r)
		default:
			s.WriteProblem(w, r, web.NotFound())
		}
	})))
}

// errDetached is the response of a server that was started without its database.
var errDetached = fault.New(fault.Unavailable, "database_unavailable",
	"The database isn't responding. Try again in a moment.").After(5 * time.Second)

// whileAttached answers everything but probes with 503 until the database can be used.
func (s *Server) whileAttached(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.Attached() && !web.IsProbe(r) {
			s.WriteProblem(w, r, errDetached)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// health answers 200 while the process runs.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	writeLines(w, http.StatusOK, "ok")
}

// readiness answers 503 if requests should go to another replica. A problem of a single project does not make the
// replica unready, but is noted. Changes are logged: probes come every second, from several places.
func (s *Server) readiness(w http.ResponseWriter, r *http.Request, ready Readiness, unready *atomic.Bool) {
	note, err := ready(r.Context())
	if err == nil {
		if unready.Swap(false) {
			s.Log.Info("ready again")
		}
		writeLines(w, http.StatusOK, withNote("ready", ", but ", note), "roles: "+s.Roles)
		return
	}
	if !errors.Is(err, ErrStopping) && !unready.Swap(true) {
		s.Log.Warn("not ready", "error", err)
	}
	writeLines(w, http.StatusServiceUnavailable, withNote("not ready", ": ", note), "roles: "+s.Roles)
}

func withNote(state, separator, note string) string {
	if note == "" {
		return state
	}
	return state + separator + note
}

func writeLines(w http.ResponseWriter, status int, lines ...string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(strings.Join(lines, "\n") + "\n")) // an error means that the caller is gone
}
