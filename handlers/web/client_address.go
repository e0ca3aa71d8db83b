package web

import (
	"net"
	"net/http"
	"net/netip"

	"postern/core/policy"
)

// ClientAddress replaces RemoteAddr by the address of the client that a trusted proxy
// forwards for, because throttling and the audit log read it. The client's port is
// unknown, and 0.
func (s *Site) ClientAddress(next http.Handler) http.Handler {
	if len(s.Config.Trusted) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		peer, err := netip.ParseAddrPort(r.RemoteAddr)
		if err == nil && policy.Contains(s.Config.Trusted, peer.Addr()) {
			client := policy.ClientAddress(peer.Addr(), r.Header["X-Forwarded-For"], s.Config.Trusted)
			r = r.WithContext(r.Context()) // a copy: the server owns the request
			r.RemoteAddr = net.JoinHostPort(client.String(), "0")
		}
		next.ServeHTTP(w, r)
	})
}
