package web

import (
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// CheckHost refuses a request with 421 whose Host is neither the server's public name nor localhost nor an address nor
// in also. With DNS rebinding, a page's own name resolves to this machine, which makes it same-origin with us for its
// browser; only the Host differs.
func (s *Site) CheckHost(r *http.Request, also ...string) error {
	host := (&url.URL{Host: r.Host}).Hostname()
	if _, err := netip.ParseAddr(host); err == nil {
		return nil
	}
	if u, err := url.Parse(s.Config.PublicURL); err == nil {
		also = append(also, u.Hostname())
	}
	for _, name := range append(also, "localhost") {
		if host != "" && strings.EqualFold(host, name) {
			return nil
		}
	}
	return errUnknownHost
}

// AllowHosts is CheckHost as middleware. Probes are answered for any Host: the answers of two hold nothing for such a
// page, and /metrics checks it, or a token.
func (s *Site) AllowHosts(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !IsProbe(r) {
			if err := s.CheckHost(r); err != nil {
				s.WriteProblem(w, r, err)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

var errUnknownHost = &Problem{
	Type:   "about:blank",
	Title:  http.StatusText(http.StatusMisdirectedRequest),
	Status: http.StatusMisdirectedRequest,
	Code:   "misdirected",
	Detail: "Unknown host name. Use an IP address, or set the server's name with --public-url or POSTERN_PUBLIC_URL.",
}

// IsProbe reports whether a request is one of load balancers, orchestrators or
// Prometheus. They address a replica, not the installation: Host is a service's name, an
// address, or absent with HTTP/1.0.
func IsProbe(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	switch r.URL.Path {
	case "/healthz", "/readyz", "/metrics":
		return true
	}
	return false
}
