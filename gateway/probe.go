package gateway

import "net/http"

// probed reports whether a request without a route is a probe of this replica. A
// route takes a version and an environment, two segments at least, so that probes
// are no address of any project, whatever its name.
func (g *Gateway) probed(method string, target target) bool {
	if g.probes == nil || method != http.MethodGet && method != http.MethodHead {
		return false
	}
	switch target.path {
	case "/healthz", "/readyz", "/metrics":
		return true
	}
	return false
}
