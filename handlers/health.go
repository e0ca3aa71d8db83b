package handlers

import (
	"context"
	"errors"
	"net/http"
	"time"

	"postern/handlers/web"
	"postern/platform/fault"
)

// Readiness reports whether calls are served from a current state. What it says goes
// to the caller, the error to the log only.
type Readiness func(context.Context) (says string, err error)

// Probes answers /healthz, /readyz and /metrics on the gateway's listener.
func (s *Server) Probes() http.Handler {
	return s.Observe(s.SecureHeaders(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/healthz":
			s.health(w, r)
		case "/readyz":
			s.readiness(w, r, s.GatewayReady)
		case "/metrics":
			s.showMetrics(w, r)
		default:
			s.WriteProblem(w, r, web.NotFound())
		}
	})))
}

// errDetached answers requests to a server that was started without its database.
var errDetached = fault.New(fault.Unavailable, "database_unavailable", "The database does not answer at the moment. "+
	"Try again soon.").
	After(5 * time.Second)

// whileAttached answers all but probes with 503 while the database cannot be used.
func (s *Server) whileAttached(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.Attached() && !web.IsProbe(r) {
			s.WriteProblem(w, r, errDetached)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// health answers that the process runs.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	writeLine(w, http.StatusOK, "ok")
}

// readiness answers 503 where calls should go to another replica. One project in
// trouble is no reason to take all others out of service, but is said.
func (s *Server) readiness(w http.ResponseWriter, r *http.Request, ready Readiness) {
	says, err := ready(r.Context())
	switch {
	case err != nil && !errors.Is(err, ErrStopping):
		s.Log.Warn("not ready", "error", err)
		fallthrough
	case err != nil:
		writeLine(w, http.StatusServiceUnavailable, joined("not ready", ": ", says))
	default:
		writeLine(w, http.StatusOK, joined("ready", ", but ", says))
	}
}

// ErrStopping is the error of a Readiness once the server is being stopped, which
// the log has said already.
var ErrStopping = errors.New("the server is stopping")

func joined(word, separator, says string) string {
	if says == "" {
		return word
	}
	return word + separator + says
}

func writeLine(w http.ResponseWriter, status int, line string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(line + "\n")) // the caller is gone when this fails
}
