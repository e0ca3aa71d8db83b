package gateway

import (
	"net/http"

	"postern/core/policy"
	"postern/gateway/engine"
)

const (
	requestMethodHeader  = "Access-Control-Request-Method"
	requestHeadersHeader = "Access-Control-Request-Headers"
)

// isPreflight reports whether a call is a preflight. For corsLines it keeps the origin, and what
// answers its pages as long as the caller is not known.
func (c *call) isPreflight(r *request) bool {
	c.origin = r.origin.first
	c.cors = c.route.project.cors.Unknown(c.origin)
	return policy.IsPreflight(c.method, r.origin.n > 0, r.requestMethod.n > 0)
}

// corsLines sets the header that lets pages of other origins read the response, also one that
// refuses the call.
func (c *call) corsLines(set func(name, value string)) {
	if c.cors != nil {
		c.cors.Lines(c.origin, set)
	}
}

// identifyCORS chooses the CORS of a call whose caller is known.
func (c *call) identifyCORS(d *policy.Decision) {
	if d.Allow || d.Identity.TenantID != "" {
		c.cors = c.route.project.cors.Of(d.Identity.TenantID)
	}
}

// answerPreflight answers a preflight, which never has credentials and never reaches the
// upstream.
func (c *engineCall) answerPreflight(r *request) {
	var fields []engine.Field
	c.cors.Preflight(c.origin, r.requestHeaders.n > 0, r.requestHeaders.first, func(name, value string) {
		fields = append(fields, engine.Field{Name: name, Value: value})
	})
	c.status = http.StatusOK
	c.bytesOut += c.exchange.Answer(http.StatusOK, c.changesOwnAnswers().response(fields), nil)
}

func (c *httpCall) answerPreflight(r *request) {
	h := c.w.Header()
	set := func(name, value string) { h[name] = []string{value} }
	c.cors.Preflight(c.origin, r.requestHeaders.n > 0, r.requestHeaders.first, set)
	c.changesOwnAnswers().responseHeader(h)
	h["Content-Length"] = []string{"0"}
	c.status = http.StatusOK
	c.w.WriteHeader(http.StatusOK)
}
