package gateway

import (
	"context"
	"errors"
	"net"
	"time"

	"postern/core/openapi/validate"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/gateway/balance"
	"postern/platform/egress"
)

// call is one proxied call whose project was found. engineCall and httpCall both serve it in
// three steps: they read what decide needs into a request, call decide, and then answer with
// the denial or forward the call.
type call struct {
	gateway *Gateway
	cache   *connCache
	conn    *connInfo
	host    string // that the caller addressed: lowercase, without port
	method  string
	target  target
	route   route
	start   time.Time

	// Set by decide.
	step       string
	identity   policy.Identity
	caller     policy.Caller      // that the call counts for
	scope      string             // that the refused caller lacks; "" for other refusals
	problems   []validate.Problem // of the request that is refused
	reported   reported           // of the request that is forwarded anyway
	shadow     policy.RuleOutcome // outcome of the rules in shadow
	tracker    *tracker           // nil: the rule of the route remembers and forgets nothing
	tracked    tracked
	upstream   upstreamCredentials
	tally      *policy.Tally // of cache, once the call has been counted; nil before, and without limits
	slot       *share        // of cache, during the call; nil before it
	reserved   reservation
	holds      []*bodyHold
	repeated   int           // tries after the first
	lease      balance.Lease // of the target of the last try
	leased     bool          // lease is not released yet
	tried      balance.Tried
	key        balance.Key  // by which the target is chosen
	kept       int64        // bytes of the request's body that were kept, to be sent again
	resent     int64        // bytes of bodies that were sent again, if the caps apply
	retryAfter int64        // seconds for Retry-After when the tally does not set it; 0: no Retry-After
	browsing   bool         // the caps apply, and a browser would show the response
	forwarded  bool         // to the upstream, or a connection was tried
	origin     string       // of the page that calls; "": none, or its project has no CORS
	cors       *policy.CORS // that answers the page; nil: left to the upstream

	// The credentials that the call was admitted by, for recheck.
	presentedKey   bool
	presentedToken bool
	secret         [32]byte // hash of the key as it was presented

	keyInAuthorization bool // Authorization has the key, and is removed
	keyInDefaultPlace  bool // X-API-Key has the key too, where that isn't a place for keys, and is removed
	ownProtocol        bool // the caller offers the gateway's protocol of WebSockets

	trace trace // of the call, if it is recorded

	// For the observer.
	status   int
	code     string
	bytesIn  int64
	bytesOut int64

	firstByte time.Duration // from start until the upstream's response began to be sent; 0: it was not
}

// connCache caches lookups of the last call of a connection, because the next call mostly has
// the same key, token and environment. The code that fills a field checks it before it uses it
// again. net/http does not report which calls share a connection, so each of its calls gets the
// cache of another that has ended.
type connCache struct {
	key       snapshot.Key // that was presented; written by Keys
	token     policy.Token // that was presented
	tally     policy.Tally
	consumers policy.Consumers
	share     *share         // of the slots of the last environment; nil before the first
	observer  CallObserver   // nil: none
	limiter   policy.Limiter // nil: calls with limits are refused
}

// verdict is the result of decide: a denial, a preflight, or the credentials for the upstream.
type verdict struct {
	admitted  bool
	preflight bool // that the gateway answers itself
	document  bool // answered with the OpenAPI document
	denial    policy.Denial
	upstream  upstreamCredentials
}

func denied(d policy.Denial) verdict { return verdict{denial: d} }

// decide checks a call in this order: expiry, takedown, preflight, hidden dot segments,
// authentication, limits, size of the body, loop guard, credentials for the upstream. It
// reserves a slot and bytes of the allowance; finish releases them. The published document is
// not authenticated if it is public, and not forwarded.
func (c *call) decide(r *request) verdict {
	c.step = StepRoute
	preflight := c.route.project.cors != nil && c.isPreflight(r)
	if denial, ok := c.checkServed(); !ok {
		return denied(denial)
	}
	if preflight {
		c.step = StepCORS
		return verdict{preflight: true}
	}
	if policy.HidesDotSegment(c.target.path) {
		return denied(policy.BadPath)
	}
	c.step = StepAccess
	if c.capped() {
		if denial, ok := c.withinCaps(r); !ok {
			return denied(denial)
		}
	}
	document := c.route.isDocument(c.method)
	var decision policy.Decision
	if document && c.route.version.description.publication == snapshot.PublicationPublic {
		decision = c.admitReader()
	} else {
		decision = c.authenticate(r)
	}
	c.identifyCORS(&decision)
	c.route.table = nil // a tunnel may last for days, and must not keep a replaced table in memory
	if !decision.Allow {
		c.caller, c.scope = decision.Refused, decision.Scope
		return denied(decision.Denial)
	}
	c.identity, c.shadow, c.tracker = decision.Identity, decision.Shadow, c.newTracker(&decision)
	c.caller = c.identity.Caller()
	c.step = StepLimits
	if denial, ok := c.withinLimits(); !ok {
		return denied(denial)
	}
	if c.capped() {
		if denial, ok := c.reserveBytes(r.length); !ok {
			return denied(denial)
		}
	}
	if document {
		c.step = StepDocument
		return verdict{document: true}
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

// checkServed refuses calls to a project that is no longer served.
func (c *call) checkServed() (policy.Denial, bool) {
	if denial, ended := c.route.project.ended(c.start); ended {
		return denial, false
	}
	if c.route.project.takenDown {
		return policy.ProjectFrozen, false
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

// finish releases what decide reserved for the call, and reports the call to the observer.
func (c *call) finish() {
	c.tracker.finish()
	c.releaseTarget()
	c.releaseSlot()
	c.releaseBodies()
	c.settleBytes()
	c.observe()
	if c.trace.CallTrace != nil {
		c.trace.End(c.outcome())
	}
}

// noResponse returns the denial of a call whose upstream did not respond. It logs err before
// the caller gets the denial.
func (c *call) noResponse(err error) policy.Denial {
	switch {
	case isTimeout(err):
		c.warn("the upstream didn't respond in time", err)
		return policy.UpstreamTimeout
	case errors.Is(err, egress.ErrForbidden):
		c.forwarded = false // no connection was tried
		c.warn("the upstream's address isn't allowed", err)
		return policy.UpstreamUnreachable
	}
	c.warn("could not reach the upstream", err)
	return policy.UpstreamUnreachable
}

func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return (ok && timeout.Timeout()) || errors.Is(err, context.DeadlineExceeded)
}
