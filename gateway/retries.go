package gateway

import (
	"errors"
	"maps"
	"net/http"
	"slices"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/gateway/engine"
	"postern/platform/egress"
)

// retries says when calls to an environment are sent again, in addition to what engine.Try.Again requires.
type retries struct {
	max      int
	timeout  bool
	statuses []int
}

// retriesOf returns when calls to an environment's upstream are sent again.
func retriesOf(set snapshot.UpstreamRetries) retries {
	set = set.Stated()
	out := retries{max: *set.Max}
	for _, c := range *set.On {
		if status := c.Status(); status != 0 {
			out.statuses = append(out.statuses, status)
		} else {
			out.timeout = true
		}
	}
	return out
}

// Next implements engine.Tries.
func (c *call) Next(last engine.Try) *engine.Upstream {
	if last.Outcome == engine.NotTried {
		return c.endpoint().upstream
	}
	c.report(&last)
	if !c.repeats(&last) {
		return nil
	}
	c.releaseTarget()
	if c.takeTarget(c.gateway.now()) != nil {
		return nil
	}
	c.repeated++
	return c.endpoint().upstream
}

// repeats reports whether the call is sent again. It counts the try for the caps.
func (c *call) repeats(last *engine.Try) bool {
	set := &c.route.environment.retries
	if !last.Again || c.repeated >= set.max {
		return false
	}
	switch last.Outcome {
	case engine.Answered:
		if !slices.Contains(set.statuses, last.Status) {
			return false
		}
	case engine.TimedOut:
		if !set.timeout {
			return false
		}
	case engine.Unsent:
		if errors.Is(last.Err, egress.ErrForbidden) {
			return false
		}
	case engine.BrokenOff:
	default:
		return false
	}
	if c.capped() && !c.countAgain(last.Outcome) {
		return false
	}
	return true
}

// countAgain counts another try of a call to an unclaimed project, and reports whether the caps allow it. The call's
// own limits, of its key and owner, count it once.
func (c *call) countAgain(last engine.Outcome) bool {
	var tally policy.Tally
	c.route.project.realm.Tally(&tally, &policy.Identity{}, nil, c.conn.peer, c.gateway.now())
	if len(tally.Shares()) > 0 {
		if c.cache.limiter == nil || c.cache.limiter.Take(c.context(), &tally) != nil || tally.Refused {
			return false
		}
	}
	if last == engine.Unsent {
		return true
	}
	_, _, _, ok := c.route.project.allowance.hold(c.start, c.gateway.caps.Bytes, c.kept, 0)
	if ok {
		c.reserved.total += c.kept
		c.resent += c.kept
	}
	return ok
}

// KeepBody implements engine.Rewriter.
func (c *engineCall) KeepBody(bytes int64) bool {
	if c.route.environment.retries.max == 0 || !c.newHold().takeSpare(bytes) {
		return false
	}
	c.kept = bytes
	return true
}

// takeSpare is take for memory that the call can do without.
func (h *bodyHold) takeSpare(bytes int64) bool {
	taken := h.take(bytes)
	if !taken {
		h.missing.Store(0)
		h.share.Store(false)
	}
	return taken
}

// keepBody keeps the body of the upstream's request, if the call may be sent again with it.
func (c *httpCall) keepBody() {
	out := c.out
	if out.Body == http.NoBody || out.ContentLength > engine.MaxKept || c.route.environment.retries.max == 0 ||
		!engine.IsIdempotent(c.method) {
		return
	}
	c.body = &keptBody{from: out.Body, hold: c.newHold(), known: out.ContentLength >= 0}
}

// Next implements engine.Tries.
func (c *httpCall) Next(last engine.Try) *engine.Upstream {
	if c.body != nil {
		c.kept = c.body.size()
	}
	return c.call.Next(last)
}

// Request implements engine.Requester.
func (c *httpCall) Request() *http.Request {
	out := c.out
	if c.repeated > 0 {
		// A copy, since the last try may still be written.
		out = out.WithContext(out.Context())
		out.Header = maps.Clone(out.Header)
		to := *out.URL
		to.Host = c.endpoint().host
		out.URL, out.Host = &to, c.upstreamHost()
		c.signatureLines(func(name, value string) { out.Header[name] = []string{value} })
	}
	if c.body != nil {
		out.Body = c.body.next()
	}
	return out
}

// Kept implements engine.Requester.
func (c *httpCall) Kept() bool {
	return c.out.Body == http.NoBody || c.body != nil && c.body.canRepeat()
}
