package gateway

import (
	"net/http"
	"strconv"

	"postern/core/policy"
	"postern/gateway/engine"
)

// withinLimits counts an authenticated call, or returns the denial of one over a limit.
func (c *call) withinLimits() (policy.Denial, bool) {
	tally := &c.cache.tally
	c.route.project.realm.Tally(tally, &c.identity, &c.cache.key, c.conn.peer, c.start)
	if len(tally.Shares()) == 0 {
		return policy.Denial{}, true
	}
	if c.cache.limiter == nil {
		return policy.LimitsUnavailable, false // calls that cannot be counted are refused
	}
	if err := c.cache.limiter.Take(c.context(), tally); err != nil {
		return policy.LimitsUnavailable, false // the limiter logs it, once and not for every call
	}
	c.tally = tally
	if c.tally.Refused {
		return c.tally.Denial(), false
	}
	return policy.Denial{}, true
}

// edits reports whether fields are removed from or added to this call's response in addition to
// those of every call: see withheld and ownLines.
func (c *call) edits() bool {
	return c.tally != nil || c.route.project.term != nil || c.cors != nil
}

// withheld reports whether a field of the upstream's response is removed: the gateway sets it
// itself, or callers of an unclaimed project do not get it.
func (c *call) withheld(name string) bool {
	if c.tally != nil && policy.IsLimitHeader(name) {
		return true
	}
	if c.cors != nil && c.cors.Replaces(name) {
		return true
	}
	return c.route.project.term != nil && c.withheldUnclaimed(name)
}

// ownLines sets the gateway's own fields of a response.
func (c *call) ownLines(status int, set func(name, value string)) {
	if c.route.project.term != nil {
		c.termLines(status, set)
	}
	c.corsLines(set)
	c.limitLines(set)
}

func (c *call) limitLines(set func(name, value string)) {
	if c.tally != nil {
		var list [policy.MaxLimitHeaders]policy.LimitHeader
		for _, h := range c.tally.Headers(list[:0]) {
			set(h.Name, strconv.FormatInt(h.Value, 10))
		}
	}
	c.retryLine(set)
}

// limitLine caches the last line that was written for one limit.
type limitLine struct {
	name  string
	value int64
	text  []byte
}

func (l *limitLine) of(h policy.LimitHeader) []byte {
	if l.name != h.Name || l.value != h.Value {
		l.name, l.value, l.text = h.Name, h.Value, engine.AppendNumber(l.text[:0], h.Name, h.Value)
	}
	return l.text
}

// appendOwnLines is ownLines as the engine's path sets them.
func (c *engineCall) appendOwnLines(dst []byte, status int) []byte {
	set := func(name, value string) { dst = engine.AppendField(dst, name, value) }
	if c.route.project.term != nil {
		c.termLines(status, set)
	}
	c.corsLines(set)
	if c.tally != nil {
		var list [policy.MaxLimitHeaders]policy.LimitHeader
		if c.limits == nil {
			c.limits = make([]limitLine, policy.MaxLimitHeaders)
		}
		for i, h := range c.tally.Headers(list[:0]) {
			if h.Fixed {
				dst = append(dst, c.limits[i].of(h)...)
			} else {
				dst = engine.AppendNumber(dst, h.Name, h.Value)
			}
		}
	}
	c.retryLine(set)
	return dst
}

func (c *httpCall) withhold(h http.Header) {
	if !c.edits() {
		return
	}
	for name, lines := range h {
		if len(lines) > 0 && c.withheld(name) { // a name without lines keeps net/http from adding one
			delete(h, name)
		}
	}
}

func (c *httpCall) setOwnLines(h http.Header, status int) {
	if c.edits() {
		c.ownLines(status, func(name, value string) { h[name] = append(h[name], value) })
	}
}

// withOwnLines returns the fields of a denial with the CORS and limit headers of the call.
func (c *engineCall) withOwnLines(fields []engine.Field) []engine.Field {
	if c.tally == nil && c.retryAfter == 0 && c.cors == nil {
		return fields
	}
	fields = fields[:len(fields):len(fields)]
	set := func(name, value string) { fields = append(fields, engine.Field{Name: name, Value: value}) }
	c.corsLines(set)
	c.limitLines(set)
	return fields
}
