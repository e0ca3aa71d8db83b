package gateway

import (
	"time"

	"postern/gateway/balance"
)

// Observer records every call that found its project, after the call has ended. Observe must be safe for concurrent
// use.
type Observer interface {
	CallObserver
	// ForConnection returns an observer for the calls of one connection, which never overlap. It may cache
	// the counters of the last call.
	ForConnection() CallObserver
}

// CallObserver records calls. It runs on the call's goroutine and must not block.
type CallObserver interface {
	Observe(Outcome)
}

// Outcome is the record of one call. It holds no secrets: no headers, no query. Method, Path and RemoteIP may point
// into the call's buffers, so an observer has to clone those that it retains.
type Outcome struct {
	ProjectID, VersionID, EnvironmentID string

	Owner        string // that the call is counted for, even if it is refused; "" if the caller is unknown
	CredentialID string // the key's id; "" without a key of the project
	RemoteIP     string // the caller's address, without port
	Host         string // of the custom domain that was called; "" for the gateway's own address
	Method       string
	Path         string // normalized, as it was matched; without the query, which can hold secrets
	Route        string // template that the path matched, policy.OtherRoute or CatchAll
	Status       int    // that the caller got; 499 if the caller left before the response
	Code         string // of the denial, or of the reason for cutting off the call; "" if the upstream answered
	Step         string // that produced the response: one of the Step constants
	Forwarded    bool   // it was sent to the upstream, or a connection was attempted
	Tries        int    // how often it was sent to the upstream or a connection was attempted; 0 if it wasn't forwarded
	Target       string // host of the target of the last try; "" if the environment has only one
	ShadowRule   string // rule or default in shadow that would have refused it, see policy.RuleOutcome; "": none
	ShadowCode   string // of that refusal
	InvalidAt    string // operation of the OpenAPI document that the forwarded call doesn't match; "": none
	InvalidWhy   string // the mismatch, without values from the call
	TrackedRule  string // id of the rule that remembers or forgets an object; "": none
	Tracked      string // result for the object: one of the Tracked constants
	TrackedThing string // the object; "" if it was missed
	MissReason   string // why it was missed, see policy.MissReason
	BytesIn      int64  // of the request's body that were read for the upstream
	BytesOut     int64  // of the response's body that the caller took
	TraceID      string // in hexadecimal; "" if the call is not recorded
	Start        time.Time
	FirstByte    time.Duration // until the gateway began to send the upstream's response; 0: it didn't
	Duration     time.Duration
}

func (c *call) observe() {
	if c.cache.observer != nil {
		c.cache.observer.Observe(c.outcome())
	}
}

func (c *call) outcome() Outcome {
	return Outcome{
		ProjectID: c.route.project.id, VersionID: c.route.version.id, EnvironmentID: c.route.environment.id,
		Owner: c.caller.Account, CredentialID: c.caller.CredentialID, RemoteIP: c.conn.peer,
		Method: c.method, Path: c.target.path, Route: c.route.version.routes.Of(c.route.rest), Status: c.status,
		Code: c.code, Step: c.step, Forwarded: c.forwarded, Tries: c.tries(), Target: c.lastTarget(),
		ShadowRule: c.shadow.By, ShadowCode: c.shadow.Denial.Code,
		InvalidAt: c.reported.operation, InvalidWhy: c.reported.problem,
		Host:        c.route.domainHost(),
		TrackedRule: c.tracked.rule, Tracked: c.tracked.did, TrackedThing: c.tracked.object,
		MissReason: c.tracked.reason,
		BytesIn:    c.bytesIn, BytesOut: c.bytesOut, TraceID: c.trace.id(),
		Start: c.start, FirstByte: c.firstByte, Duration: c.gateway.since(c.start),
	}
}

// tries returns how often the call was sent, or that was tried.
func (c *call) tries() int {
	if !c.forwarded {
		return 0
	}
	return 1 + c.repeated
}

// lastTarget returns the host that the last try was sent to, "" for an upstream with one target. The lease is released
// already.
func (c *call) lastTarget() string {
	if e := c.route.environment; c.forwarded && len(e.endpoints) > 1 && c.tried != (balance.Tried{}) {
		return e.endpoints[c.lease.Index()].host
	}
	return ""
}
