package gateway

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"postern/core/policy"
	"postern/core/snapshot"
)

// Caps bound what a proxy can be used for before anybody has claimed it: one
// that costs nobody a name must be of no use as a relay, a download site or a
// page that asks for passwords. A zero field takes its default.
type Caps struct {
	Body   int64 // bytes of a request's body; 1 MiB
	Answer int64 // bytes of an answer's body; 10 MiB
	Bytes  int64 // of bodies in a day, both directions together; 1 GiB for each project

	// Calls, where the project's own limits are not lower. The defaults are far
	// above what somebody needs to try an API out, alone or with a team, and far
	// below what makes a proxy worth abusing.
	IP      snapshot.Limits // of each address; 120 in a minute
	Project snapshot.Limits // of all together; 1,200 in a minute, 50,000 in a day
}

func (c Caps) withDefaults() Caps {
	if c.Body == 0 {
		c.Body = 1 << 20
	}
	if c.Answer == 0 {
		c.Answer = 10 << 20
	}
	if c.Bytes == 0 {
		c.Bytes = 1 << 30
	}
	if c.IP.None() {
		c.IP = snapshot.Limits{snapshot.Minute: 120}
	}
	if c.Project.None() {
		c.Project = snapshot.Limits{snapshot.Minute: 1_200, snapshot.Day: 50_000}
	}
	return c
}

// lower sets on an unclaimed project's limits those of the caps that are lower.
func (c *Caps) lower(limits *snapshot.ProjectLimits) {
	for w := range limits.IP {
		limits.IP[w] = lowerLimit(limits.IP[w], c.IP[w])
		limits.Project[w] = lowerLimit(limits.Project[w], c.Project[w])
	}
}

// lowerLimit takes 0 for any number, as limits do.
func lowerLimit(a, b int64) int64 {
	if a == 0 || b == 0 {
		return a + b
	}
	return min(a, b)
}

// errAnswerTooLarge ends an answer that turns out to be over its cap on the way.
var errAnswerTooLarge = errors.New("the answer is over what an unclaimed proxy may carry")

// term says when an unclaimed project ends, as its callers are told.
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

// capped tells whether the caps hold for the call: once the project is claimed,
// none does.
func (c *call) capped() bool { return c.route.project.term != nil && c.gateway.caps != nil }

// withinCaps refuses calls that an unclaimed project does not carry.
func (c *call) withinCaps(r *request) (policy.Denial, bool) {
	if c.route.environment.oddPort || strings.EqualFold(r.upgrade.first, "websocket") {
		return policy.ClaimRequired, false
	}
	if r.length > c.gateway.caps.Body {
		return policy.BodyTooLarge, false
	}
	c.browsing = showsAnswers(r.fetchDest.first, r.accept.first)
	return policy.Denial{}, true
}

// bodyLimit is the most bytes of a request's body, 0 for any number.
func (c *call) bodyLimit() int64 {
	limit := c.gateway.limits.Body
	if c.capped() && (limit == 0 || limit > c.gateway.caps.Body) {
		limit = c.gateway.caps.Body
	}
	return limit
}

// answerLimit is the most bytes of an answer's body, 0 for any number.
func (c *call) answerLimit() int64 {
	if c.capped() {
		return c.reserved.answer
	}
	return 0
}

// showsAnswers tells a request whose answer a browser would show or run. Browsers
// say what an answer is for, and no page can say it for them (Fetch Metadata,
// Sec-Fetch-Dest); one that is too old to say it accepts HTML where it navigates.
// An unknown purpose counts as one of these.
func showsAnswers(destination, accept string) bool {
	switch strings.ToLower(destination) {
	case "":
		accept = strings.ToLower(accept)
		return strings.Contains(accept, "text/html") || strings.Contains(accept, "application/xhtml+xml")
	case "empty", "image", "audio", "video", "track", "font", "json", "manifest", "report":
		return false
	}
	return true
}

// withheldUnclaimed tells the fields of an unclaimed project's answer that its caller
// does not get: what would leave something behind in a browser under our name,
// and, for an answer that is shown, what would lead it elsewhere, save it as a
// file, or ask for a password.
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

// Of the caps, what an answer says. The policy adds to one that the upstream
// sends: a browser obeys both (CSP3, 8.1).
const inert = "default-src 'none'; sandbox; frame-ancestors 'none'"

// termLines sets what the caller is told of the proxy's end and, under the caps,
// what keeps a browser from showing or running the answer.
func (c *call) termLines(status int, set func(name, value string)) {
	set("Sunset", c.route.project.term.sunset)
	set("Postern-Expires", c.route.project.term.expires)
	if !c.capped() {
		return
	}
	set("Content-Security-Policy", inert)
	set("X-Content-Type-Options", "nosniff")
	set("Vary", "Accept, Sec-Fetch-Dest") // or a cache could give a browser what was meant for a client
	if c.browsing && status != http.StatusNotModified {
		set("Content-Type", "text/plain; charset=utf-8")
	}
}
