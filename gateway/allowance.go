package gateway

import (
	"strconv"
	"sync"
	"time"

	"postern/core/policy"
	"postern/core/snapshot"
)

// allowance counts the bytes of bodies that an unclaimed project carries in a day (UTC), both
// directions together. A call reserves the most that it can need before it is forwarded, and
// returns the unused bytes when it ends. If calls were counted only when they end, a thousand
// concurrent calls would each see the same allowance.
type allowance struct {
	mu   sync.Mutex
	day  int64 // start of the day, in Unix seconds
	used int64 // bytes of calls that have ended
	held int64 // bytes reserved by current calls
}

// hold reserves body bytes for the body of a call, and for its response as many as are left, at most response. most is
// the limit of the day. For a refused call, retry is the number of seconds to wait: until tomorrow, or one if only
// current calls hold the rest.
func (a *allowance) hold(
	now time.Time, most, body, response int64,
) (granted, retry int64, denial policy.Denial, ok bool) {
	start, end := policy.WindowBounds(snapshot.Day, now)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.day < start {
		a.day, a.used = start, 0
	}
	if a.used+body >= most {
		return 0, end - now.Unix(), policy.QuotaExceeded, false
	}
	if a.used+a.held+body >= most {
		return 0, 1, policy.RateLimited, false
	}
	granted = min(response, most-a.used-a.held-body)
	a.held += body + granted
	return granted, 0, policy.Denial{}, true
}

// settle replaces the held bytes of a call that has ended by the bytes that it carried.
func (a *allowance) settle(held, carried int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.held -= held
	a.used += carried
}

// reservation is one call's share of its project's allowance, in bytes.
type reservation struct {
	total    int64 // body and response
	response int64
}

// reserveBytes reserves the allowance of a call with a body of that length, -1 for an
// unknown one, or returns the denial of a call that the allowance is too small for.
func (c *call) reserveBytes(body int64) (policy.Denial, bool) {
	caps := c.gateway.caps
	if body < 0 {
		body = caps.Body
	}
	granted, retry, denial, ok := c.route.project.allowance.hold(c.start, caps.Bytes, body, caps.Response)
	c.retryAfter = retry
	if ok {
		c.reserved = reservation{total: body + granted, response: granted}
	}
	return denial, ok
}

func (c *call) settleBytes() {
	if c.reserved.total > 0 {
		c.route.project.allowance.settle(c.reserved.total, c.bytesIn+c.bytesOut+c.resent)
	}
}

// responseTooLarge is the denial of a response that is over the cap, or over what is left of the
// day's allowance.
func (c *call) responseTooLarge() policy.Denial {
	if c.reserved.response == c.gateway.caps.Response {
		return policy.ClaimRequired
	}
	_, end := policy.WindowBounds(snapshot.Day, c.start)
	c.retryAfter = end - c.start.Unix()
	return policy.QuotaExceeded
}

// retryLine sets Retry-After for a denial that is not the tally's.
func (c *call) retryLine(set func(name, value string)) {
	if c.retryAfter > 0 {
		set("Retry-After", strconv.FormatInt(c.retryAfter, 10))
	}
}
