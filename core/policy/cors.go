package policy

import (
	"net/http"
	"strconv"
	"strings"

	"postern/core/snapshot"
)

// CORS answers preflights and adds the headers of cross-origin responses as the cors plugin of Kong 3.9 does
// (kong/plugins/cors/handler.lua), so that it can be exported unchanged. Standard: Fetch, "CORS protocol". It is
// immutable.
type CORS struct {
	any     bool            // every origin
	varies  bool            // with any: others are answered otherwise
	single  string          // the only one; "": there are several, or any
	origins map[string]bool // several

	headers, methods, exposed, maxAge string // as lines; "": not sent
	credentials                       bool
}

// NewCORS returns nil if no origin is allowed: then upstreams handle CORS themselves.
func NewCORS(c *snapshot.CORS) *CORS {
	if c == nil || len(c.Allowed()) == 0 {
		return nil
	}
	return compileCORS(c)
}

func compileCORS(c *snapshot.CORS) *CORS {
	allowed := c.Allowed()
	out := &CORS{
		headers:     strings.Join(c.Headers, ","),
		methods:     strings.Join(c.Methods, ","),
		exposed:     strings.Join(c.ExposedHeaders, ","),
		credentials: c.Credentials,
	}
	if c.MaxAge != nil {
		out.maxAge = strconv.Itoa(*c.MaxAge)
	}
	switch {
	case len(allowed) == 1 && allowed[0] == "*":
		out.any = true
	case len(allowed) == 1:
		out.single = allowed[0]
	default:
		out.origins = make(map[string]bool, len(allowed))
		for _, origin := range allowed {
			out.origins[origin] = true
		}
	}
	return out
}

// The headers that a CORS sets.
const (
	allowOrigin      = "Access-Control-Allow-Origin"
	allowCredentials = "Access-Control-Allow-Credentials"
	allowHeaders     = "Access-Control-Allow-Headers"
	allowMethods     = "Access-Control-Allow-Methods"
	exposeHeaders    = "Access-Control-Expose-Headers"
	maxAge           = "Access-Control-Max-Age"
)

// IsPreflight reports whether a call with an Origin and an Access-Control-Request-Method is a
// preflight (Fetch, "CORS-preflight request").
func IsPreflight(method string, origin, requestMethod bool) bool {
	return method == http.MethodOptions && origin && requestMethod
}

// Replaces reports whether a header is removed from the upstream's response, because Lines sets it.
func (c *CORS) Replaces(name string) bool {
	switch len(name) {
	case len(allowOrigin):
		return strings.EqualFold(name, allowOrigin)
	case len(exposeHeaders): // as long as Access-Control-Expose-Headers
		return c.exposed != "" && strings.EqualFold(name, exposeHeaders)
	case len(allowCredentials):
		return c.credentials && strings.EqualFold(name, allowCredentials)
	}
	return false
}

// Lines sets the CORS headers of a response to a call from that origin; "" for a call without one.
func (c *CORS) Lines(origin string, set func(name, value string)) {
	c.originLines(origin, set)
	if c.exposed != "" {
		set(exposeHeaders, c.exposed)
	}
}

// Preflight sets the headers of the response to a preflight. asks says whether the preflight has an
// Access-Control-Request-Headers line, and requestHeaders is its value: an empty line is answered with an empty one.
func (c *CORS) Preflight(origin string, asks bool, requestHeaders string, set func(name, value string)) {
	c.originLines(origin, set)
	switch {
	case c.headers != "":
		set(allowHeaders, c.headers)
	case asks:
		set(allowHeaders, requestHeaders)
	}
	set(allowMethods, c.methods)
	if c.maxAge != "" {
		set(maxAge, c.maxAge)
	}
}

func (c *CORS) originLines(origin string, set func(name, value string)) {
	switch {
	case c.any:
		set(allowOrigin, "*")
		if c.varies {
			set("Vary", "Origin")
		}
		return
	case c.single != "":
		set(allowOrigin, c.single)
	case c.origins[origin]:
		set(allowOrigin, origin)
	default:
		// Kong compares the origin without the scheme's default port, which browsers leave out.
		if plain := withoutDefaultPort(origin); c.origins[plain] {
			set(allowOrigin, plain)
		}
	}
	set("Vary", "Origin")
	if c.credentials {
		set(allowCredentials, "true")
	}
}

func withoutDefaultPort(origin string) string {
	if plain, ok := strings.CutSuffix(origin, ":443"); ok && strings.HasPrefix(origin, "https://") {
		return plain
	}
	if plain, ok := strings.CutSuffix(origin, ":80"); ok && strings.HasPrefix(origin, "http://") {
		return plain
	}
	return origin
}
