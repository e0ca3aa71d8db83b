package handlers

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"net/netip"
	"strings"

	"postern/handlers/web"
	"postern/platform/config"
	"postern/platform/fault"
)

var errMetricsToken = fault.New(fault.Unauthenticated, "invalid_token",
	"Send the metrics token as Authorization: Bearer …")

// showMetrics serves the metrics to callers with the metrics token. If none is
// configured, it serves them to local callers of a server that listens on loopback only, and
// checks the Host: a browser on this machine is such a caller too.
func (s *Server) showMetrics(w http.ResponseWriter, r *http.Request) {
	token, misdirected := s.Config.MetricsToken, s.CheckHost(r)
	switch {
	case token.Reveal() != "" && !hasToken(r, token):
		s.WriteProblem(w, r, errMetricsToken)
	case token.Reveal() == "" && (!s.Config.LoopbackOnly() || !isLocal(r)):
		s.WriteProblem(w, r, web.NotFound())
	case token.Reveal() == "" && misdirected != nil:
		s.WriteProblem(w, r, misdirected)
	default:
		s.Metrics.ServeHTTP(w, r)
	}
}

// hasToken compares hashes, so that the time taken does not depend on the length.
func hasToken(r *http.Request, want config.Secret) bool {
	_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	got, expected := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(want.Reveal()))
	return subtle.ConstantTimeCompare(got[:], expected[:]) == 1
}

// isLocal reports whether a request was sent from this machine, and not through a proxy
// on it, which forwards requests from anywhere.
func isLocal(r *http.Request) bool {
	for _, header := range []string{"X-Forwarded-For", "Forwarded", "X-Real-Ip", "Via"} {
		if r.Header.Get(header) != "" {
			return false
		}
	}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && peer.Addr().Unmap().IsLoopback()
}
