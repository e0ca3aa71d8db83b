package web

import (
	"net/http"
	"net/url"
	"strings"
)

const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src " +
	"'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// strictTransport keeps browsers from calling this host without TLS for a year (RFC
// 6797). It leaves out subdomains: they may be projects of a gateway without TLS.
const strictTransport = "max-age=31536000"

// SecureHeaders sets the security headers of every answer and bounds every body. Pages
// are never framed, and load scripts and styles from this server only.
func (s *Site) SecureHeaders(next http.Handler) http.Handler {
	strict := s.requiresTLS()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", contentPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		if strict {
			h.Set("Strict-Transport-Security", strictTransport)
		}
		if !strings.HasPrefix(r.URL.Path, "/static/") {
			h.Set("Cache-Control", "no-store")
		}
		r.Body = http.MaxBytesReader(w, r.Body, mostOf(r))
		next.ServeHTTP(w, r)
	})
}

// requiresTLS reports whether browsers reach this server over https under its own name. On localhost,
// Strict-Transport-Security would apply to every other server of the machine.
func (s *Site) requiresTLS() bool {
	u, err := url.Parse(s.Config.PublicURL)
	return err == nil && u.Scheme == "https" && u.Hostname() != "localhost" &&
		!strings.HasSuffix(u.Hostname(), ".localhost")
}
