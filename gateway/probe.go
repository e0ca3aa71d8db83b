package gateway

import "net/http"

// probed reports whether a request without a route is a probe of this replica. A route has at
// least two segments, version and environment, so no project can be addressed by a probe's
// path.
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
