package gateway

import (
	"context"
	"errors"
	"net"
	"time"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/platform/egress"
)

// call is one proxied call that found its project. The two paths, engineCall and
// httpCall, both serve it in three steps: they read a request of what the caller sent,
// decide runs over it, and the path answers the denial or forwards.
type call struct {
	gateway *Gateway
	cache   *connCache
	conn    *connInfo
	host    string // that the caller addressed: lower case, without port
	method  string
	target  target
	route   route
	start   time.Time

	// Set by decide.
	step       string
	identity   policy.Identity
	upstream   upstreamCredentials
	tally      *policy.Tally // of cache, once the call has been counted; nil before, and without limits
	slot       *share        // of cache, while the call is under way; nil before
	reserved   reservation
	retryAfter int64 // in seconds, where the caller is not told by the tally; 0: not told
	browsing   bool  // under the caps: a browser would show the answer

	// The credentials that the call was admitted by, for standing.
	presentedKey   bool
	presentedToken bool
	secret         [32]byte // hash of the key as it was presented

	// For the observer.
	status   int
	code     string
	bytesIn  int64
	bytesOut int64
}

// connCache holds what was found for the last call of a connection: most of it is the
// same for the next. Each part is checked by its owner before it is used again. net/http
// does not tell which calls share a connection; its calls get a cache of their own.
type connCache struct {
	key       snapshot.Key // that was presented; written by Keys
	token     policy.Token // that was presented
	tally     policy.Tally
	consumers policy.Consumers
	share     *share         // of the slots of the last environment; nil before the first
	observer  CallObserver   // nil: none
	limiter   policy.Limiter // nil: calls with limits are refused
}

// verdict is what decide returns: a denial, or what the upstream gets of the caller's
// credentials.
type verdict struct {
	admitted bool
	denial   policy.Denial
	upstream upstreamCredentials
}

func denied(d policy.Denial) verdict { return verdict{denial: d} }

// decide takes a call through the steps of the contract: expiry, takedown, hidden dot
// segments, authentication, limits, size of the body, loop guard, credentials of the
// upstream. What it took for the call (a slot, bytes of the allowance) finish releases.
func (c *call) decide(r *request) verdict {
	c.step = StepRoute
	if denial, ok := c.checkRoute(); !ok {
		return denied(denial)
	}
	c.step = StepAccess
	if c.capped() {
		if denial, ok := c.withinCaps(r); !ok {
			return denied(denial)
		}
	}
	decision := c.authenticate(r)
	c.route.table = nil // a tunnel may last for days, and must not keep a replaced table in memory
	if !decision.Allow {
		return denied(decision.Denial)
	}
	c.identity = decision.Identity
	c.step = StepLimits
	if denial, ok := c.withinLimits(); !ok {
		return denied(denial)
	}
	if c.capped() {
		if denial, ok := c.reserveBytes(r.length); !ok {
			return denied(denial)
		}
	}
	c.step = StepForward
	if denial, ok := c.checkForwardable(r); !ok {
		return denied(denial)
	}
	if denial, ok := c.takeSlot(); !ok {
		return denied(denial)
	}
	credentials, denial, ok := c.credentialsFor(&decision)
	if !ok {
		return denied(denial)
	}
	return verdict{admitted: true, upstream: credentials}
}

// checkRoute refuses calls to a project that is no longer served, and paths that two
// readers could resolve differently.
func (c *call) checkRoute() (policy.Denial, bool) {
	switch end := c.route.project.expires; {
	case !end.IsZero() && !end.After(c.start):
		return policy.ExpiredProxy, false
	case c.route.project.takenDown:
		return policy.ProjectFrozen, false
	case policy.HidesDotSegment(c.target.path):
		return policy.BadPath, false
	}
	return policy.Denial{}, true
}

// checkForwardable refuses bodies over the limit, and calls that go round in a loop.
func (c *call) checkForwardable(r *request) (policy.Denial, bool) {
	if limit := c.bodyLimit(); limit > 0 && r.length > limit {
		return policy.BodyTooLarge, false
	}
	if r.hops >= MaxHops {
		return policy.LoopDetected, false
	}
	return policy.Denial{}, true
}

// finish releases what decide took for the call, and reports the call.
func (c *call) finish() {
	c.releaseSlot()
	c.settleBytes()
	c.observe()
}

// noAnswer is the denial of a call whose upstream did not answer. It is logged first, so
// that the log has the line when the caller has the answer.
func (c *call) noAnswer(err error) policy.Denial {
	switch {
	case isTimeout(err):
		c.warn("the upstream did not answer in time", err)
		return policy.UpstreamTimeout
	case errors.Is(err, egress.ErrForbidden):
		c.warn("the upstream's address may not be reached", err)
		return policy.UpstreamUnreachable
	}
	c.warn("the upstream could not be reached", err)
	return policy.UpstreamUnreachable
}

func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return (ok && timeout.Timeout()) || errors.Is(err, context.DeadlineExceeded)
}
