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

// call is one proxied call on its way, whichever path carries it.
type call struct {
	carrier  carrier
	gateway  *Gateway
	conn     *connInfo
	host     string // as the caller named us, lower case, without the port
	method   string
	target   target
	route    route
	identity policy.Identity
	upstream credential
	space    *space         // of the path that carries it
	observer CallObserver   // nil: none
	limiter  policy.Limiter // nil: calls with limits are refused
	tally    *policy.Tally  // of space, once the call has been counted against limits; nil before, and without any
	start    time.Time
	status   int
	code     string
	step     string
	bytesIn  int64
	bytesOut int64
	browsing bool // under the caps: a browser would show the answer
	room

	// What the call was let in by, for standing.
	presentedKey   bool
	presentedToken bool
	secret         [32]byte // hash of the key as it was presented
}

// space is memory for one call after the other of one caller: what was found out for
// the last one mostly holds for the next.
type space struct {
	key       snapshot.Key // the one that was presented; written by Keys alone, which takes it for what it has found
	token     policy.Token // what the one that was presented says
	tally     policy.Tally
	consumers policy.Consumers
	share     *share // of the slots of the last environment; nil before the first
}

// carrier is the path that a call takes: net/http (forward.go) or the engine
// (fast.go). What is decided about a call is decided here, for both.
type carrier interface {
	// keyLines counts the X-API-Key lines and returns the first.
	keyLines() (n int, value string)
	// authorization counts the Authorization lines and returns the first.
	authorization() (n int, value string)
	// field is the first line of a field of the request, "" without one.
	field(name string) string
	// hops counts how often the call came through here.
	hops() int
	// length is that of the body, -1 when it is not known.
	length() int64
	// deny answers in the upstream's stead and returns how many bytes of a body
	// the caller was sent.
	deny(policy.Denial) int64
	// forward carries the call to its upstream and the answer back.
	forward(stripKey bool)
}

// serve takes a call that found its project through the steps of the contract:
// expiry, takedown, hidden dot segments, authentication, limits, loop guard, forward.
func (c *call) serve() {
	c.step = StepRoute
	if end := c.route.project.expires; !end.IsZero() && !end.After(c.start) {
		c.refuse(policy.ExpiredProxy)
		return
	}
	if c.route.project.takenDown {
		c.refuse(policy.ProjectFrozen)
		return
	}
	if policy.HidesDotSegment(c.target.path) {
		c.refuse(policy.BadPath)
		return
	}
	c.step = StepAccess
	if c.capped() {
		if denial, ok := c.underCaps(); !ok {
			c.refuse(denial)
			return
		}
	}
	decision := c.decide()
	c.route.table = nil // a tunnel may last for days, and must not keep what was replaced
	if !decision.Allow {
		c.refuse(decision.Denial)
		return
	}
	c.identity = decision.Identity
	c.step = StepLimits
	if denial, ok := c.withinLimits(); !ok {
		c.refuse(denial)
		return
	}
	if c.capped() {
		if denial, ok := c.holdBytes(); !ok {
			c.refuse(denial)
			return
		}
		defer c.settleBytes()
	}
	c.step = StepForward
	if limit := c.bodyLimit(); limit > 0 && c.carrier.length() > limit {
		c.refuse(policy.BodyTooLarge)
		return
	}
	if c.carrier.hops() >= MaxHops {
		c.refuse(policy.LoopDetected)
		return
	}
	if denial, ok := c.takeSlot(); !ok {
		c.refuse(denial)
		return
	}
	defer c.leaveSlot()
	if denial, ok := c.settleAuthorization(decision.Authorization); !ok {
		c.refuse(denial)
		return
	}
	c.carrier.forward(decision.StripKey)
}

func (c *call) refuse(d policy.Denial) {
	c.status, c.code = d.Status, d.Code
	c.bytesOut += c.carrier.deny(d)
}

// unanswered refuses a call whose upstream did not answer. The log comes first:
// who has the answer can rely on its being there.
func (c *call) unanswered(err error) {
	switch {
	case isTimeout(err):
		c.warn("the upstream did not answer in time", err)
		c.refuse(policy.UpstreamTimeout)
	case errors.Is(err, egress.ErrForbidden):
		c.warn("the upstream's address may not be reached", err)
		c.refuse(policy.UpstreamUnreachable)
	default:
		c.warn("the upstream could not be reached", err)
		c.refuse(policy.UpstreamUnreachable)
	}
}

func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return (ok && timeout.Timeout()) || errors.Is(err, context.DeadlineExceeded)
}
