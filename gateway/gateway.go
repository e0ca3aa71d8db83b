// Package gateway is the data plane. It owns the routing table, the steps of a call (call.go), header rewriting,
// streaming, tunnels, timeouts and strict framing. It leaves plain HTTP/1.1 to package engine, decisions to package
// policy, permitted addresses to package egress, and keys, limits and usage to the interfaces below. Standards: RFC
// 9110 section 7 (proxies), RFC 9112 (HTTP/1.1), RFC 9113 (HTTP/2), RFC 6455 section 4 (WebSocket). Where they leave a
// choice to proxies, it does what Kong 3.9 does for an untrusted client; comments cite the sources.
package gateway

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/gateway/engine"
)

// Keys finds API keys. Lookup finds the key of a team whose secret has the SHA-256 hash and writes it to into, which is
// zero or the result of an earlier Lookup. It reports whether there is such a key; old reports whether the secret is
// the one before the last rotation. Lookup runs once per call with a possible key, and must be fast and safe for
// concurrent use.
//
// Gone reports whether the hash is of a secret that an imported key of the team had in the past, but that no key has
// any more.
type Keys interface {
	Lookup(team string, hash [32]byte, into *snapshot.Key) (found, old bool)
	Gone(team string, hash [32]byte) bool
}

// Verifier verifies bearer tokens. Verify writes the claims of a valid token to into and returns the zero Denial. It
// must not retain token, must bound the wait for keys that it fetches, and must be safe for concurrent use. ctx
// contains the call's trace, and doesn't end with the call.
type Verifier interface {
	Verify(
		ctx context.Context, token string, from policy.Issuers, now time.Time, into *policy.Token,
	) policy.Denial
}

// Opener decrypts the provider's token for the upstream, which a verified token, identified by its ID, carries
// encrypted. It must not retain the plaintext, and must be fast and safe for concurrent use.
type Opener interface {
	Open(tokenID, sealed string) (string, error)
}

// Limiter counts admitted calls that have limits. If it returns an error, the call is refused. Its own Take must be
// safe for concurrent use.
type Limiter interface {
	policy.Limiter
	// ForConnection returns a limiter for the calls of one connection, which never overlap: it may cache the counters
	// of the last call.
	ForConnection() policy.Limiter
}

// The steps that can end a call, in their order.
const (
	StepRoute    = "route"    // the project is expired or taken down, or the path is refused
	StepCORS     = "cors"     // a preflight, which the gateway answers itself
	StepAccess   = "access"   // credentials, addresses, the caps on unclaimed projects
	StepLimits   = "limits"   // rate limits and quotas
	StepDocument = "document" // the OpenAPI document, which the gateway serves itself
	StepValidate = "validate" // the request does not match the OpenAPI document
	StepForward  = "forward"  // the upstream, the connection to it, or a refusal right before it: see Outcome.Forwarded
)

// CatchAll is the route of all calls of a version without templates.
const CatchAll = policy.AnyRoute

// Options configure a Gateway. Only Keys is required.
type Options struct {
	Domain       string // bare domain: <project>.<domain> addresses a project; "" is localhost
	Host         string // in the URL shown to callers, without port; "" for Domain
	Keys         Keys
	Verifier     Verifier     // nil: every token gets 503
	Introspector Introspector // nil: every token of a version with introspection gets 503
	Unsealer     Unsealer     // nil: projects with upstream credentials are not served
	Opener       Opener       // nil: calls whose upstream gets a provider's token get 503
	Observer     Observer     // nil: calls are not recorded
	Tracer       Tracer       // nil: calls are not traced
	Limiter      Limiter      // nil: calls that have limits are refused

	// Ownership has the owners of objects, for rules that require one. nil: no object has an owner.
	Ownership Ownership

	Clock  func() time.Time // nil: time.Now
	Logger *slog.Logger     // nil: slog.Default()
	Limits Limits
	Caps   *Caps // on unclaimed projects; nil: they are served like all others

	Documents Documents

	// Dial connects to upstreams: the egress guard's DialWithin. nil: a guard that permits
	// public addresses only.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	// Probes handles GET and HEAD of /healthz, /readyz and /metrics on all hosts, unless the path belongs to a project.
	// nil: they get 404.
	Probes http.Handler

	// Trusted are the proxies whose X-Forwarded headers are believed.
	Trusted []netip.Prefix

	// TraceTrusted are the callers whose traces are continued. Traces of all other callers are at most linked.
	TraceTrusted []netip.Prefix

	// CallerTLS is the listener's TLS configuration; nil: callers connect without TLS. The
	// gateway puts its own protocols before those of the configuration (ALPN). A connection
	// that agrees on another protocol ends with the handshake.
	CallerTLS *tls.Config

	// HTTP2 is how callers speak HTTP/2 over TLS.
	HTTP2 HTTP2

	// PlainHTTP2 also accepts HTTP/2 without TLS from callers that begin with it (prior knowledge, RFC 9113 section
	// 3.3). It has no effect with HTTP2Off or with CallerTLS.
	PlainHTTP2 bool

	// UpstreamTLS is used for https upstreams; nil: the system's roots are trusted.
	UpstreamTLS *tls.Config
}

// Gateway serves proxied calls. Create one with New. It is safe for concurrent use.
type Gateway struct {
	domain       string
	host         string
	keys         Keys
	verifier     Verifier
	introspector Introspector
	opener       Opener
	unsealer     Unsealer
	limiter      Limiter
	observer     Observer
	tracer       Tracer // nil: calls are not traced

	ownership Ownership // nil: no object has an owner

	clock  func() time.Time // nil: time.Now
	log    *slog.Logger
	limits Limits
	caps   *Caps
	dial   func(context.Context, string, string) (net.Conn, error)
	secure *tls.Config // to upstreams

	engineLimits engine.Limits // derived from limits
	callerTLS    *tls.Config   // nil: no TLS
	http2        HTTP2
	plainHTTP2   bool
	trusted      []netip.Prefix
	traceTrusted []netip.Prefix
	probes       http.Handler
	budget       *engine.Budget // of waiting connections to upstreams
	bodies       *bodyMemory
	documents    validators
	caches       sync.Pool // of *connCache, for calls that net/http carries

	table   atomic.Pointer[table]
	publish sync.Mutex
	prober  prober
	watched atomic.Pointer[[]watched] // nil before the first Publish

	running sync.WaitGroup  // calls of net/http until they are recorded, and connections of the engine
	closing context.Context // canceled by Close: tunnels end with it
	close   context.CancelFunc
}

// New returns a gateway that serves nothing until Publish.
func New(o Options) *Gateway {
	g := &Gateway{
		domain:       strings.ToLower(o.Domain),
		host:         strings.ToLower(o.Host),
		keys:         o.Keys,
		verifier:     o.Verifier,
		introspector: o.Introspector,
		opener:       o.Opener,
		unsealer:     o.Unsealer,
		limiter:      o.Limiter,

		ownership: o.Ownership,

		observer: o.Observer,
		tracer:   o.Tracer,
		clock:    o.Clock,
		log:      o.Logger,
		limits:   o.Limits.withDefaults(),
		trusted:  o.Trusted,
		probes:   o.Probes,
		http2:    o.HTTP2,

		plainHTTP2: o.PlainHTTP2 && o.HTTP2 != HTTP2Off,

		traceTrusted: o.TraceTrusted,
	}
	if g.domain == "" {
		g.domain = "localhost"
	}
	if g.log == nil {
		g.log = slog.Default()
	}
	if o.Caps != nil {
		caps := o.Caps.withDefaults()
		g.caps = &caps
	}
	if g.dial = o.Dial; g.dial == nil {
		g.dial = guarded()
	}
	if g.secure = o.UpstreamTLS; g.secure == nil {
		g.secure = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if o.CallerTLS != nil {
		g.callerTLS = o.CallerTLS.Clone()
		g.callerTLS.NextProtos = append(o.HTTP2.protocols(), o.CallerTLS.NextProtos...)
	}
	g.bodies, g.documents.most = newBodyMemory(g.limits.Bodies, sharesOfProcess), o.Documents.withDefaults()
	g.engineLimits, g.budget = g.limits.engine(), engine.NewBudget(g.limits.IdleUpstream)
	g.closing, g.close = context.WithCancel(context.Background())
	g.prober = prober{gateway: g, turns: make(chan struct{}, maxProbes), probes: map[probeOf]*targetProbe{}}
	g.table.Store(&table{})
	return g
}

// Publish replaces everything that is served. A project with the same pointer as in the last call isn't compiled again.
// If a project doesn't compile, the old table stays in use and the error is a *RefusedError.
func (g *Gateway) Publish(projects []*snapshot.Project) error {
	g.publish.Lock()
	defer g.publish.Unlock()
	last := g.table.Load()
	next, err := compile(projects, last, g.caps, connector{
		unsealer: g.unsealer,
		bodies:   g.limits.BodiesOfOne,
		compiled: &g.documents,
		pool:     g.budget.NewPool,
		upstream: g.newUpstream,
		now:      g.now,
	})
	if err != nil {
		return err
	}
	g.table.Store(next)
	g.prober.follow(next)
	g.watch(next)
	for key, up := range last.upstreams {
		if next.upstreams[key] == nil {
			up.Close()
		}
	}
	return nil
}

// Close ends tunnels and closes idle connections to upstreams. Running calls continue: stop the listener first.
func (g *Gateway) Close() {
	g.close()
	for _, up := range g.table.Load().upstreams {
		up.Close()
	}
}

// Wait returns when every call has ended and is recorded, or with the context's error. Stop
// the listener and Close the gateway first.
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

func (g *Gateway) since(t time.Time) time.Duration {
	if g.clock != nil {
		return g.clock().Sub(t)
	}
	return time.Since(t)
}

func (g *Gateway) now() time.Time {
	if g.clock != nil {
		return g.clock()
	}
	return time.Now()
}

// find resolves the route of a call. The project's name is the label before the domain, or the
// first segment of the path if the host is the gateway's own; any other host may be a
// customer's name. host is the host that the caller addressed.
func (g *Gateway) find(hostLine, method string, target target, conn *connInfo) (host string, r route, ok bool) {
	host = bareHost(hostLine)
	label := projectLabel(g.domain, host)
	if label == "" && !g.isOwnHost(host, conn) {
		r, ok = g.table.Load().findHost(host, method, target.path)
		return host, r, ok
	}
	if r, ok = g.table.Load().find(label, target.path); ok && host == "" {
		host = g.domain // HTTP/1.0 needs no Host
	}
	return host, r, ok
}

// unrouted returns the denial of a call for which find found no environment, and at most the
// project.
func (g *Gateway) unrouted(r route) policy.Denial {
	if r.project != nil {
		if denial, ended := r.project.ended(g.now()); ended {
			return denial
		}
	}
	return policy.NoRoute
}
