// Package gateway is the data plane: it receives proxied calls, decides them by
// the rules of package policy, and carries them to their upstream and back.
//
// It owns the table of what is served (compiled from snapshots, swapped as a
// whole), the order of steps of a call, header hygiene, streaming, tunnels,
// timeouts and limits, and the strict framing of its listener. It does not own
// where projects and keys come from (it declares small interfaces for those),
// which addresses may be reached (egress), nor the decisions themselves.
//
// Standards: RFC 9110, RFC 9112 (HTTP/1.1), RFC 9113 (HTTP/2), RFC 6455 (WebSocket handshake).
// Where a proxy has a choice it does what Kong 3.9 does for an untrusted client,
// so that an upstream cannot tell which of the two called it; the places in
// Kong's and nginx's sources are cited where that shows.
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

// Keys finds a key by the SHA-256 of its plaintext and writes it into the
// caller's own, which it may have used before; old tells that it was found by the
// secret before its last rotation. It is asked once per call that presents a
// well-formed key and must be safe for concurrent use and fast.
type Keys interface {
	Lookup(hash [32]byte, into *snapshot.Key) (found, old bool)
}

// Verifier judges a bearer token by the issuers that tokens are taken of, and writes what a good one says into the caller's own Token; the zero Denial means
// that it is good. It must keep no part of the text that it is given, be safe for
// concurrent use, and bound its own waiting: for keys that have to be fetched.
type Verifier interface {
	Verify(token string, from policy.Issuers, now time.Time, into *policy.Token) policy.Denial
}

// Opener opens the provider's token that a token of ours, by its id, carries sealed
// for the upstream. It is asked once per call whose upstream gets one, of verified
// tokens only, must keep nothing of what it opened, and must be safe for concurrent
// use and fast.
type Opener interface {
	Open(tokenID, sealed string) (string, error)
}

// Limiter counts admitted calls that have limits. An error refuses the call. Its own Take
// must be safe for concurrent use.
type Limiter interface {
	policy.Limiter
	// ForConnection returns a limiter for the calls of one connection, which never
	// overlap: it may cache the counters of the last one.
	ForConnection() policy.Limiter
}

// The steps that can answer a call, in their order.
const (
	StepRoute   = "route"   // where it goes, and whether that is still served
	StepAccess  = "access"  // who may call
	StepLimits  = "limits"  // how often
	StepForward = "forward" // the upstream, or what stands between it and us
)

// CatchAll is the route of every call to an environment.
const CatchAll = "/*"

// Options configure a Gateway. Only Keys is required.
type Options struct {
	Domain   string // bare domain: <project>.<domain> addresses a project; "" is localhost
	Host     string // of the URL that callers are shown, without port; "" for the domain
	Keys     Keys
	Verifier Verifier // nil: every token is answered 503
	Asker    Asker    // nil: so is every token of a version that asks about tokens
	Opener   Opener   // nil: calls whose upstream gets a provider's token are answered 503
	Observer Observer // nil: nobody is told
	Limiter  Limiter  // nil: calls that have limits are refused
	Clock    func() time.Time
	Logger   *slog.Logger // nil: slog.Default()
	Limits   Limits
	Caps     *Caps // on projects that nobody has claimed; nil: they are served as any other

	// Dial connects to upstreams: the egress guard's DialContext. nil is a guard
	// that permits public addresses only.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	// Probes answers GET and HEAD of /healthz, /readyz and /metrics, which are no
	// project's address, on every host; nil: they are answered 404.
	Probes http.Handler

	// Trusted are the proxies whose X-Forwarded headers are believed.
	Trusted []netip.Prefix

	// CallerTLS is for the listener; nil: callers do not speak TLS. Its protocols
	// of ALPN are set by the gateway.
	CallerTLS *tls.Config

	// UpstreamTLS is for https upstreams; nil trusts whom the system trusts.
	UpstreamTLS *tls.Config
}

// Gateway serves proxied calls. Make one with New; it is safe for concurrent use.
type Gateway struct {
	domain   string
	host     string
	keys     Keys
	verifier Verifier
	asker    Asker
	opener   Opener
	limiter  Limiter
	observer Observer
	clock    func() time.Time // nil: the system's
	log      *slog.Logger
	limits   Limits
	caps     *Caps
	dial     func(context.Context, string, string) (net.Conn, error)
	secure   *tls.Config // to upstreams

	engineLimits engine.Limits // made of limits
	callerTLS    *tls.Config   // nil: none
	trusted      []netip.Prefix
	probes       http.Handler
	budget       *engine.Budget // of waiting connections to upstreams

	table   atomic.Pointer[table]
	publish sync.Mutex

	running sync.WaitGroup  // calls of net/http that the observer has not been told of, and connections of the engine
	closing context.Context // over when Close was called: tunnels end with it
	close   context.CancelFunc
}

// New makes a gateway that serves nothing until Publish.
func New(o Options) *Gateway {
	g := &Gateway{
		domain:   strings.ToLower(o.Domain),
		host:     strings.ToLower(o.Host),
		keys:     o.Keys,
		verifier: o.Verifier,
		asker:    o.Asker,
		opener:   o.Opener,
		limiter:  o.Limiter,
		observer: o.Observer,
		clock:    o.Clock,
		log:      o.Logger,
		limits:   o.Limits.withDefaults(),
		trusted:  o.Trusted,
		probes:   o.Probes,
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
	g.dial = dialer(o.Dial, g.limits)
	if g.secure = o.UpstreamTLS; g.secure == nil {
		g.secure = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if o.CallerTLS != nil {
		g.callerTLS = o.CallerTLS.Clone()
		g.callerTLS.NextProtos = []string{engine.HTTP2, "http/1.1"}
	}
	g.engineLimits, g.budget = g.limits.engine(), engine.NewBudget(g.limits.IdleUpstream)
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
	last := g.table.Load()
	next, err := compile(projects, last, g.caps, connector{g.budget.NewPool, g.newUpstream})
	if err != nil {
		return err
	}
	g.table.Store(next)
	for key, up := range last.upstreams {
		if next.upstreams[key] == nil {
			up.Close()
		}
	}
	return nil
}

// Close ends open tunnels and lets go of idle upstream connections. Calls that
// are running are not touched; stop the listener first.
func (g *Gateway) Close() {
	g.close()
	for _, up := range g.table.Load().upstreams {
		up.Close()
	}
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

// find resolves where a call goes: the project's name is the label before the domain,
// or, where the host is the gateway itself, the first segment of the path. host is what
// the caller named us by.
func (g *Gateway) find(hostLine string, target target, conn *connInfo) (host string, r route, ok bool) {
	host = bareHost(hostLine)
	label := projectLabel(g.domain, host)
	if label == "" && !g.answersTo(host, conn) {
		return host, route{}, false
	}
	if r, ok = g.table.Load().find(label, target.path); ok && host == "" {
		host = g.domain // HTTP/1.0 needs no Host
	}
	return host, r, ok
}
