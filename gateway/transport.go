package gateway

import (
	"context"
	"net"
	"time"

	"postern/gateway/engine"
	"postern/platform/egress"
)

// Limits bound the time and size of a call, and the number of connections. A zero field means
// its default.
type Limits struct {
	Connect         time.Duration // to the upstream, name resolution and TLS included each; 10 s
	Header          time.Duration // from the whole request sent, and between two pieces of the upstream's header; 60 s
	Idle            time.Duration // between two pieces of a body or tunnel, on either side; 60 s, as in Kong's services
	ClientHeader    time.Duration // for a caller to send the header of a request; 10 s
	ClientIdle      time.Duration // between two requests of a caller's connection; 75 s
	HeaderBytes     int           // of a request; 32 KiB
	ResponseBytes   int64         // of an upstream's header; 64 KiB
	Body            int64         // bytes of a request's body; 0: any size, bodies are streamed
	BodyRate        int64         // lowest rate of a body in bytes per second, after BodyGrace; 0: none
	BodyGrace       time.Duration // how long a call may wait for its body before BodyRate applies; 10 s
	Bodies          int64         // bytes of bodies that are held whole, in the process; 256 MiB
	BodiesOfOne     int64         // of them of one team; a quarter of Bodies
	UnderWay        int64         // calls of one environment at once; 1024
	UnderWayFromOne int64         // of them from one address, or one /64 of IPv6; half of UnderWay
	Conns           int           // of callers, open at once; 16384
	ConnsFromOne    int           // of them from one address, or one /64 of IPv6; half of Conns
	IdleUpstream    int           // connections to upstreams that wait for a call, of all projects; a quarter of Conns
}

func (l Limits) withDefaults() Limits {
	orDuration := func(d *time.Duration, fallback time.Duration) {
		if *d == 0 {
			*d = fallback
		}
	}
	orDuration(&l.Connect, 10*time.Second)
	orDuration(&l.Header, 60*time.Second)
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
	if l.UnderWay == 0 {
		l.UnderWay = 1024
	}
	if l.UnderWayFromOne == 0 {
		l.UnderWayFromOne = (l.UnderWay + 1) / 2
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

// dialer returns dial with a timeout. A nil dial is replaced by an egress guard.
func dialer(
	dial func(context.Context, string, string) (net.Conn, error), l Limits,
) func(context.Context, string, string) (net.Conn, error) {
	if dial == nil {
		guard, err := egress.New(egress.Options{ConnectTimeout: l.Connect})
		if err != nil { // cannot fail: the options name no listeners
			panic(err)
		}
		dial = guard.DialContext
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, l.Connect)
		defer cancel()
		return dial(ctx, network, address)
	}
}

// newUpstream returns the upstream of an environment, with the connection pool of its project.
func (g *Gateway) newUpstream(pool *engine.Pool, e *environment) *engine.Upstream {
	address, name := e.address()
	if e.scheme != "https" {
		return pool.NewUpstream(func(ctx context.Context) (net.Conn, error) { return g.dial(ctx, "tcp", address) })
	}
	config := g.secure.Clone()
	config.ServerName, config.NextProtos = name, []string{"http/1.1"}
	e.proof.present(config)
	return pool.NewUpstream(func(ctx context.Context) (net.Conn, error) {
		plain, err := g.dial(ctx, "tcp", address)
		if err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(ctx, g.limits.Connect)
		defer cancel()
		return engine.Secure(ctx, plain, config)
	})
}

// engine returns the engine's part of the limits.
func (l Limits) engine() engine.Limits {
	return engine.Limits{
		FirstHeader:   l.ClientHeader,
		CallerIdle:    l.ClientIdle,
		Idle:          l.Idle,
		Header:        l.Header,
		Connect:       2 * l.Connect,
		ResponseBytes: int(l.ResponseBytes),
		BodyRate:      l.BodyRate,
		BodyGrace:     l.BodyGrace,
	}
}
