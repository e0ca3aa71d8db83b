package gateway

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"postern/core/policy"
	"postern/core/snapshot"
)

// Caps bound what an unclaimed project can be used for. It can be created without an account,
// so it must be useless as a relay, a download site or a phishing page. A zero field means
// its default.
type Caps struct {
	Body     int64 // bytes of a request's body; 1 MiB
	Response int64 // bytes of a response's body; 10 MiB
	Bytes    int64 // of a project's bodies per day, in both directions together; 1 GiB
	Bodies   int64 // bytes of bodies of the workspace's calls that are buffered as a whole; 8 MiB

	// Limits on calls, unless the project's own are lower. The defaults are far above the needs of a team that tries
	// out an API, and too low to be worth abusing.
	IP      snapshot.Limits // of each address; 120 per minute
	Project snapshot.Limits // of all calls; 1,200 per minute, 50,000 per day
}

func (c Caps) withDefaults() Caps {
	if c.Body == 0 {
		c.Body = 1 << 20
	}
	if c.Response == 0 {
		c.Response = 10 << 20
	}
	if c.Bytes == 0 {
		c.Bytes = 1 << 30
	}
	if c.Bodies == 0 {
		c.Bodies = 8 << 20
	}
	if c.IP.None() {
		c.IP = snapshot.Limits{snapshot.Minute: 120}
	}
	if c.Project.None() {
		c.Project = snapshot.Limits{snapshot.Minute: 1_200, snapshot.Day: 50_000}
	}
	return c
}

// lower reduces an unclaimed project's limits to the caps.
func (c *Caps) lower(limits *snapshot.ProjectLimits) {
	for w := range limits.IP {
		limits.IP[w] = lowerLimit(limits.IP[w], c.IP[w])
		limits.Project[w] = lowerLimit(limits.Project[w], c.Project[w])
	}
}

// lowerLimit returns the lower of two limits, where 0 means none.
func lowerLimit(a, b int64) int64 {
	if a == 0 || b == 0 {
		return a + b
	}
	return min(a, b)
}

// errResponseTooLarge ends a response of unknown length when it exceeds its cap.
var errResponseTooLarge = errors.New("the response is larger than unclaimed proxies allow")

// term has the time at which an unclaimed project expires, formatted for response headers.
type term struct {
	sunset  string // HTTP date (RFC 8594)
	expires string // RFC 3339, UTC
}

func newTerm(end time.Time) *term {
	if end.IsZero() {
		return nil
	}
	return &term{sunset: end.UTC().Format(http.TimeFormat), expires: end.UTC().Format(time.RFC3339)}
}

// capped reports whether the caps apply to the call: the project is unclaimed.
func (c *call) capped() bool { return c.route.project.term != nil && c.gateway.caps != nil }

// withinCaps returns the denial of a call that the caps of an unclaimed project refuse.
func (c *call) withinCaps(r *request) (policy.Denial, bool) {
	if c.route.environment.first().oddPort || strings.EqualFold(r.upgrade.first, "websocket") {
		return policy.ClaimRequired, false
	}
	if r.length > c.gateway.caps.Body {
		return policy.BodyTooLarge, false
	}
	c.browsing = showsResponse(r.fetchDest.first, r.accept.first)
	return policy.Denial{}, true
}

// bodyLimit is the limit on the request's body in bytes, 0 for none.
func (c *call) bodyLimit() int64 {
	limit := c.gateway.limits.Body
	if c.capped() && (limit == 0 || limit > c.gateway.caps.Body) {
		limit = c.gateway.caps.Body
	}
	return limit
}

// responseLimit is the limit on the response's body in bytes, 0 for none.
func (c *call) responseLimit() int64 {
	if c.capped() {
		return c.reserved.response
	}
	return 0
}

// showsResponse reports whether a browser would show or run the response to a request with the
// given values of Sec-Fetch-Dest and Accept. Pages cannot set Sec-Fetch-Dest (Fetch Metadata
// section 2.1); a browser too old to send it accepts HTML when it navigates. Unknown
// destinations count as shown.
func showsResponse(destination, accept string) bool {
	switch strings.ToLower(destination) {
	case "":
		accept = strings.ToLower(accept)
		return strings.Contains(accept, "text/html") || strings.Contains(accept, "application/xhtml+xml")
	case "empty", "image", "audio", "video", "track", "font", "json", "manifest", "report":
		return false
	}
	return true
}

// withheldUnclaimed reports whether callers of an unclaimed project do not get a field of the
// answer: fields that would leave state in a browser under the gateway's name, and, if a
// browser would show the response, fields that redirect, save a file, or ask for a password.
func (c *call) withheldUnclaimed(name string) bool {
	if len(name) == len("Sunset") && strings.EqualFold(name, "Sunset") {
		return true
	}
	if !c.capped() {
		return false
	}
	switch strings.ToLower(name) {
	case "set-cookie", "set-cookie2", "clear-site-data", "strict-transport-security", "alt-svc", "refresh",
		"service-worker-allowed", "nel", "report-to", "reporting-endpoints", "x-content-type-options":
		return true
	case "content-type", "content-disposition", "location", "link", "www-authenticate":
		return c.browsing
	}
	return false
}

// inert is the Content-Security-Policy of capped responses. A browser enforces it next to the
// upstream's own (CSP Level 3 section 8.1).
const inert = "default-src 'none'; sandbox; frame-ancestors 'none'"

// termLines sets the headers with the project's expiry and, if the caps apply, those that keep
// a browser from showing or running the response.
func (c *call) termLines(status int, set func(name, value string)) {
	set("Sunset", c.route.project.term.sunset)
	set("Postern-Expires", c.route.project.term.expires)
	if !c.capped() {
		return
	}
	set("Content-Security-Policy", inert)
	set("X-Content-Type-Options", "nosniff")
	set("Vary", "Accept, Sec-Fetch-Dest") // so that no cache gives a browser a response for other clients
	if c.browsing && status != http.StatusNotModified {
		set("Content-Type", "text/plain; charset=utf-8")
	}
}
