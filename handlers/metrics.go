package handlers

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"net/netip"
	"strings"

	"postern/handlers/web"
	"postern/platform/fault"
)

// showMetrics shows the process's series to whoever has the token; where none is
// set, to callers on this machine that call for nobody else, of a server that
// nobody else can reach: what a proxy here passes on comes from anywhere.
func (s *Server) showMetrics(w http.ResponseWriter, r *http.Request) {
	if secret := s.Config.MetricsToken.Reveal(); secret != "" {
		_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		got, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(secret))
		if subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			s.WriteProblem(
				w,
				r,
				fault.New(
					fault.Unauthenticated,
					"invalid_token",
					"Send the metrics token as Authorization: Bearer …",
				),
			)
			return
		}
		s.Metrics.ServeHTTP(w, r)
		return
	}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	forwarded := r.Header.Get("X-Forwarded-For") != "" || r.Header.Get("Forwarded") != "" ||
		r.Header.Get("X-Real-Ip") != "" ||
		r.Header.Get("Via") != ""
	if err != nil || !peer.Addr().Unmap().IsLoopback() || forwarded || !s.Config.LoopbackOnly() {
		s.WriteProblem(w, r, web.NotFound())
		return
	}
	s.Metrics.ServeHTTP(w, r)
}
