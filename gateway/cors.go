package gateway

import (
	"net/http"

	"postern/core/policy"
	"postern/gateway/engine"
)

const (
	askedMethodHeader  = "Access-Control-Request-Method"
	askedHeadersHeader = "Access-Control-Request-Headers"
)

// isPreflight reports whether a call is a preflight, and keeps the origin for corsLines.
func (c *call) isPreflight(r *request) bool {
	c.origin = r.origin.first
	return policy.IsPreflight(c.method, r.origin.n > 0, r.askedMethod.n > 0)
}

// corsLines sets the header that lets pages of other origins read the response, also one that
// refuses the call.
func (c *call) corsLines(set func(name, value string)) {
	if c.route.project.cors != nil {
		c.route.project.cors.Lines(c.origin, set)
	}
}

// answerPreflight answers a preflight, which never has credentials and never reaches the
// upstream.
func (c *engineCall) answerPreflight(r *request) {
	var fields []engine.Field
	c.route.project.cors.Preflight(c.origin, r.askedHeaders.n > 0, r.askedHeaders.first, func(name, value string) {
		fields = append(fields, engine.Field{Name: name, Value: value})
	})
	c.status = http.StatusOK
	c.bytesOut += c.exchange.Answer(http.StatusOK, c.changesOwnAnswers().response(fields), nil)
}

func (c *httpCall) answerPreflight(r *request) {
	h := c.w.Header()
	set := func(name, value string) { h[name] = []string{value} }
	c.route.project.cors.Preflight(c.origin, r.askedHeaders.n > 0, r.askedHeaders.first, set)
	c.changesOwnAnswers().responseHeader(h)
	h["Content-Length"] = []string{"0"}
	c.status = http.StatusOK
	c.w.WriteHeader(http.StatusOK)
}
