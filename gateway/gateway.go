// Package gateway is the data plane: it receives proxied calls, decides them by
// the rules of package policy, and carries them to their upstream and back.
//
// It owns the table of what is served (compiled from snapshots, swapped as a
// whole), the order of steps of a call, header hygiene, streaming, tunnels,
// timeouts and limits, and the strict framing of its listener. It does not own
// where projects and keys come from (it declares small interfaces for those),
// which addresses may be reached (egress), nor the decisions themselves.
//
// Standards: RFC 9110, RFC 9112 (HTTP/1.1), RFC 6455 (WebSocket handshake).
// Where a proxy has a choice it does what Kong 3.9 does for an untrusted client,
// so that an upstream cannot tell which of the two called it; the places in
// Kong's and nginx's sources are cited where that shows.
package gateway

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"postern/policy"
	"postern/snapshot"
)

// Keys finds a key by the SHA-256 of its plaintext. old tells that it was found
// by the secret before its last rotation. It is asked once per call that
// presents a well-formed key and must be safe for concurrent use and fast.
type Keys interface {
	Lookup(hash [32]byte) (key *snapshot.Key, old bool)
}

// Observer is told of every call that found its project, when the call is over.
// It runs on the call's goroutine and must not block.
type Observer interface {
	Observe(Outcome)
}

// Outcome is what became of one call. It holds nothing secret: no header, no
// query. Method, Path and RemoteIP may lie in the call's buffers; an observer
// that keeps one of them copies it.
type Outcome struct {
	ProjectID, VersionID, EnvironmentID string

	Owner        string // whom the call counts for; "" for nobody
	CredentialID string // the key's id; "" without one
	RemoteIP     string // the caller's address, without port
	Method       string
	Path         string // normalized, as it was matched; without the query, which can hold secrets
	Route        string // pattern of what decided on the path: CatchAll
	Status       int    // what the caller got; 499 when he left before the answer
	Code         string // of the gateway's own answer; "" when the upstream answered
	Step         string // which step answered: one of the Step constants
	BytesIn      int64  // of the request's body, as far as it was read for the upstream
	BytesOut     int64  // of the answer's body, as far as the caller took it
	Start        time.Time
	Duration     time.Duration
}

// The steps that can answer a call, in their order.
const (
	StepRoute   = "route"   // where it goes, and whether that is still served
	StepAccess  = "access"  // who may call
	StepForward = "forward" // the upstream, or what stands between it and us
)

// CatchAll is the route of every call to an environment.
const CatchAll = "/*"

// Options configure a Gateway. Only Keys is required.
type Options struct {
	Domain   string // bare domain: <project>.<domain> addresses a project; "" is localhost
	Keys     Keys
	Observer Observer // nil: nobody is told
	Clock    func() time.Time
	Logger   *slog.Logger // nil: slog.Default()
	Limits   Limits

	// Dial connects to upstreams: the egress guard's DialContext. nil is a guard
	// that permits public addresses only.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Gateway serves proxied calls. Make one with New; it is safe for concurrent use.
type Gateway struct {
	domain    string
	keys      Keys
	observer  Observer
	clock     func() time.Time
	log       *slog.Logger
	limits    Limits
	transport *http.Transport

	table   atomic.Pointer[table]
	publish sync.Mutex

	running sync.WaitGroup  // calls that the observer has not been told of
	closing context.Context // over when Close was called: tunnels end with it
	close   context.CancelFunc
}

// New makes a gateway that serves nothing until Publish.
func New(o Options) *Gateway {
	g := &Gateway{
		domain:   strings.ToLower(o.Domain),
		keys:     o.Keys,
		observer: o.Observer,
		clock:    o.Clock,
		log:      o.Logger,
		limits:   o.Limits.withDefaults(),
	}
	if g.domain == "" {
		g.domain = "localhost"
	}
	if g.clock == nil {
		g.clock = time.Now
	}
	if g.log == nil {
		g.log = slog.Default()
	}
	g.transport = newTransport(o.Dial, g.limits)
	g.closing, g.close = context.WithCancel(context.Background())
	g.table.Store(&table{})
	return g
}

// Publish replaces everything that is served. A project that is the same
// pointer as in the last call is taken over as it was compiled. When one does
// not compile the old table stays and the error names it.
func (g *Gateway) Publish(projects []*snapshot.Project) error {
	g.publish.Lock()
	defer g.publish.Unlock()
	next, err := compile(projects, g.table.Load())
	if err != nil {
		return err
	}
	g.table.Store(next)
	return nil
}

// Close ends open tunnels and lets go of idle upstream connections. Calls that
// are running are not touched; stop the listener first.
func (g *Gateway) Close() {
	g.close()
	g.transport.CloseIdleConnections()
}

// Wait returns when every call has ended and the observer knows of it, or with
// the context's error. Stop the listener and Close the gateway first.
func (g *Gateway) Wait(ctx context.Context) error {
	over := make(chan struct{})
	go func() {
		g.running.Wait()
		close(over)
	}()
	select {
	case <-over:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("gateway: wait for the last calls: %w", ctx.Err())
	}
}

// ServeHTTP takes one call through the steps of the contract: route, expiry,
// authentication, loop guard, forward.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.running.Add(1)
	defer g.running.Done()
	if r.Method == http.MethodConnect || r.Method == http.MethodTrace {
		// TRACE would show the caller the identity headers. nginx refuses both
		// alike (ngx_http_process_request_header).
		refuse(w, r, policy.MethodNotAllowed)
		return
	}
	target, ok := readTarget(r.RequestURI)
	if !ok {
		refuse(w, r, policy.BadRequest)
		return
	}
	host := bareHost(r.Host)
	route, ok := g.table.Load().find(g.domain, host, target.path)
	if !ok {
		refuse(w, r, policy.NoRoute)
		return
	}
	if host == "" { // HTTP/1.0 needs no Host
		host = g.domain
	}
	c := &call{gateway: g, w: w, r: r, host: host, target: target, route: route, start: g.clock()}
	defer c.observe()
	c.serve() //nolint:contextcheck // a call carries its request, and the context with it
}

// call is one proxied call on its way.
type call struct {
	gateway  *Gateway
	w        http.ResponseWriter
	r        *http.Request
	host     string // as the caller named us, lower case, without the port
	target   target
	route    route
	identity policy.Identity
	start    time.Time
	status   int
	code     string
	step     string
	body     *requestBody // nil when the upstream was not called
	bytesIn  int64        // of a tunnel; a body counts its own
	bytesOut int64
}

func (c *call) serve() {
	c.step = StepRoute
	if end := c.route.project.expires; !end.IsZero() && !end.After(c.start) {
		c.refuse(policy.ExpiredProxy)
		return
	}
	c.step = StepAccess
	decision := c.decide()
	if !decision.Allow {
		c.refuse(decision.Denial)
		return
	}
	c.identity = decision.Identity
	c.step = StepForward
	if c.r.ContentLength > c.gateway.limits.Body && c.gateway.limits.Body > 0 {
		c.refuse(policy.BodyTooLarge)
		return
	}
	if hops(c.r.Header["Via"]) >= MaxHops {
		c.refuse(policy.LoopDetected)
		return
	}
	c.forward(decision.StripKey)
}

func (c *call) decide() policy.Decision {
	in := policy.Call{
		Access:        c.route.version.access,
		ProjectID:     c.route.project.id,
		FallbackOwner: c.route.project.fallbackOwner,
		Environment:   c.route.environment.name,
		Now:           c.start,
	}
	if lines := c.r.Header[policy.KeyHeader]; in.Access.Allows(snapshot.APIKey) {
		in.KeyLines = len(lines)
		if len(lines) == 1 && policy.WellFormedKey(lines[0]) {
			in.Key, in.OldSecret = c.gateway.keys.Lookup(policy.HashKey(lines[0]))
		}
	}
	return policy.Decide(in)
}

func (c *call) refuse(d policy.Denial) {
	c.status, c.code = d.Status, d.Code
	c.bytesOut += refuse(c.w, c.r, d)
}

func (c *call) observe() {
	if c.gateway.observer == nil {
		return
	}
	if c.body != nil {
		c.bytesIn += c.body.read.Load()
	}
	c.gateway.observer.Observe(Outcome{
		ProjectID: c.route.project.id, VersionID: c.route.version.id, EnvironmentID: c.route.environment.id,
		Owner: c.identity.Owner, CredentialID: c.identity.CredentialID, RemoteIP: connInfoOf(c.r).peer,
		Method: c.r.Method, Path: c.target.path, Route: CatchAll, Status: c.status, Code: c.code, Step: c.step,
		BytesIn: c.bytesIn, BytesOut: c.bytesOut,
		Start: c.start, Duration: c.gateway.clock().Sub(c.start),
	})
}
