package web

import (
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// AllowHosts lets through requests that name this server: by its public address,
// as localhost or by a bare address. A page whose own name was made to resolve
// to this machine (DNS rebinding) is same-origin with us to its browser, and
// gives itself away by the name it asks for. Probes are answered whatever they name:
// there is nothing in them for such a page.
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
			s.WriteProblem(w, r, &Problem{
				Type:   "about:blank",
				Title:  http.StatusText(http.StatusMisdirectedRequest),
				Status: http.StatusMisdirectedRequest,
				Code:   "misdirected",
				Detail: "This server does not go by that name. Set its name with --public-url or POSTERN_PUBLIC_URL.",
			})
			return
		}
		next.ServeHTTP(w, r)
	})
}
