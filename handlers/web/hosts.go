package web

import (
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// AllowHosts refuses requests with 421 whose Host is neither the server's public name
// nor localhost nor an address. With DNS rebinding, a page's own name resolves to this
// machine, which makes it same-origin with us for its browser; only the Host differs.
// Probes are answered for any Host: their answers hold nothing for such a page.
func (s *Site) AllowHosts(next http.Handler) http.Handler {
	public := ""
	if u, err := url.Parse(s.Config.PublicURL); err == nil {
		public = u.Hostname()
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := (&url.URL{Host: r.Host}).Hostname()
		_, notAddress := netip.ParseAddr(host)
		if notAddress != nil && !IsProbe(r) && !strings.EqualFold(host, public) &&
			!strings.EqualFold(host, "localhost") {
			s.WriteProblem(w, r, errUnknownHost)
			return
		}
		next.ServeHTTP(w, r)
	})
}

var errUnknownHost = &Problem{
	Type:   "about:blank",
	Title:  http.StatusText(http.StatusMisdirectedRequest),
	Status: http.StatusMisdirectedRequest,
	Code:   "misdirected",
	Detail: "Unknown host name. Set the server's name with --public-url or POSTERN_PUBLIC_URL.",
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
