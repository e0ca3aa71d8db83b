package gateway

import (
	"context"
	"net"
	"time"

	"postern/core/snapshot"
	"postern/gateway/engine"
	"postern/gateway/h2upstream"
	"postern/platform/egress"
)

// Limits bound the time and size of a call, and the number of connections. A zero field means
// its default.
type Limits struct {
	Idle              time.Duration // between two reads or writes of a body or tunnel, on the caller's side; 60 s
	ClientHeader      time.Duration // for a caller to send the header of a request; 10 s
	ClientIdle        time.Duration // between two requests of a caller's connection; 75 s
	HeaderBytes       int           // of a request; 32 KiB
	ResponseBytes     int64         // of an upstream's header; 64 KiB
	Body              int64         // bytes of a request's body; 0: any size, bodies are streamed
	BodyRate          int64         // lowest rate of a body in bytes per second, after BodyGrace; 0: none
	BodyGrace         time.Duration // how long a call may wait for its body before BodyRate applies; 10 s
	Bodies            int64         // bytes of bodies that are buffered as a whole, in the process; 256 MiB
	BodiesOfOne       int64         // the same for one team; a quarter of Bodies
	InProgress        int64         // concurrent calls of one environment; 1024
	InProgressFromOne int64         // the same from one address, or one /64 of IPv6; half of InProgress
	Conns             int           // concurrent connections of callers; 16384
	ConnsFromOne      int           // the same from one address, or one /64 of IPv6; half of Conns
	IdleUpstream      int           // idle connections to upstreams in total; a quarter of Conns
}

func (l Limits) withDefaults() Limits {
	orDuration := func(d *time.Duration, fallback time.Duration) {
		if *d == 0 {
			*d = fallback
		}
	}
	orDuration(&l.Idle, 60*time.Second)
	orDuration(&l.ClientHeader, 10*time.Second)
	orDuration(&l.ClientIdle, 75*time.Second)
	orDuration(&l.BodyGrace, 10*time.Second)
	if l.HeaderBytes == 0 {
		l.HeaderBytes = 32 << 10
	}
	if l.ResponseBytes == 0 {
		l.ResponseBytes = 64 << 10
	}
	if l.Bodies == 0 {
		l.Bodies = 256 << 20
	}
	if l.BodiesOfOne == 0 {
		l.BodiesOfOne = l.Bodies / 4
	}
	if l.InProgress == 0 {
		l.InProgress = 1024
	}
	if l.InProgressFromOne == 0 {
		l.InProgressFromOne = (l.InProgress + 1) / 2
	}
	if l.Conns == 0 {
		l.Conns = 16384
	}
	if l.ConnsFromOne == 0 {
		l.ConnsFromOne = max(1, l.Conns/2)
	}
	if l.IdleUpstream == 0 {
		l.IdleUpstream = max(1, l.Conns/4)
	}
	return l
}

// guarded returns the dial of an egress guard that permits public addresses only.
func guarded() func(context.Context, string, string) (net.Conn, error) {
	guard, err := egress.New(egress.Options{})
	if err != nil { // cannot fail: the options name no listeners
		panic(err)
	}
	return guard.DialWithin
}

// timeoutsOf returns the timeouts of an environment's upstream.
func timeoutsOf(set snapshot.UpstreamTimeouts) engine.Timeouts {
	of := func(ms *int) time.Duration { return time.Duration(*ms) * time.Millisecond }
	set = set.Stated()
	return engine.Timeouts{
		Connect:    of(set.ConnectMS),
		Response:   of(set.ResponseMS),
		Idle:       of(set.IdleMS),
		StreamIdle: of(set.StreamIdleMS),
		ReuseIdle:  of(set.ReuseIdleMS),
	}
}

// connect connects to an upstream's address, without TLS.
func (g *Gateway) connect(ctx context.Context, address string, within time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	return g.dial(ctx, "tcp", address)
}

// newUpstream returns the upstream of an environment, with the connection pool of its project.
// host is that of one of its targets.
func (g *Gateway) newUpstream(pool *engine.Pool, e *environment, host string) *engine.Upstream {
	up := pool.NewUpstream(g.dialer(e, host, engine.HTTP1), e.timeouts)
	if !e.usesHTTP2() {
		return up
	}
	up.Multiplexed = h2upstream.New(h2upstream.Options{
		Scheme:        e.scheme,
		Dial:          g.dialer(e, host, e.offers()...),
		OrHTTP1:       e.http == snapshot.HTTPAuto,
		Timeouts:      e.timeouts,
		ResponseBytes: int(g.limits.ResponseBytes),
	})
	return up
}

// dialer returns what connects to a target of an environment, and offers the protocols if it uses TLS (ALPN, RFC 7301).
func (g *Gateway) dialer(
	e *environment, host string, protocols ...string,
) func(context.Context) (net.Conn, error) {
	address, _ := addressOf(e.scheme, host)
	within := e.timeouts.Connect
	connect := func(ctx context.Context) (net.Conn, error) { return g.connect(ctx, address, within) }
	if e.scheme != "https" {
		return connect
	}
	config, unusable := g.secureConfig(e, host, protocols...)
	return func(ctx context.Context) (net.Conn, error) {
		if unusable != nil {
			return nil, unusable
		}
		plain, err := connect(ctx)
		if err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(ctx, within)
		defer cancel()
		return engine.Secure(ctx, plain, config)
	}
}

// engine returns the engine's part of the limits.
func (l Limits) engine() engine.Limits {
	return engine.Limits{
		FirstHeader:   l.ClientHeader,
		CallerIdle:    l.ClientIdle,
		Idle:          l.Idle,
		ResponseBytes: int(l.ResponseBytes),
		BodyRate:      l.BodyRate,
		BodyGrace:     l.BodyGrace,
	}
}
