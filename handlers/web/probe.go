package web

import (
	"net/http"
)

// IsProbe reports whether a request is one that load balancers, orchestrators and
// Prometheus make. They address a replica, not the installation: with a service's
// name or an address as Host, or none with HTTP/1.0.
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
