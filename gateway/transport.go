package gateway

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"postern/egress"
	"postern/gateway/engine"
)

// Limits bound what one call may take in time and size. A zero field takes its
// default.
type Limits struct {
	Connect       time.Duration // to the upstream, name resolution and TLS included each; 10 s
	Header        time.Duration // from the whole request sent to the upstream's header received; 60 s
	Idle          time.Duration // between two pieces of a body or tunnel, on either side; 60 s, as in Kong's services
	ClientHeader  time.Duration // for a caller to send his request's header; 10 s
	ClientIdle    time.Duration // between two requests of a caller's connection; 75 s
	HeaderBytes   int           // of a request; 32 KiB
	ResponseBytes int64         // of an upstream's header; 64 KiB
	Body          int64         // bytes of a request's body; 0: any size, bodies are streamed
	UnderWay      int64         // calls of one environment at once; 1024
	Conns         int           // of callers, open at once; 16384
	ConnsFromOne  int           // of them from one address, or one /64 of IPv6; half of Conns
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
	if l.HeaderBytes == 0 {
		l.HeaderBytes = 32 << 10
	}
	if l.ResponseBytes == 0 {
		l.ResponseBytes = 64 << 10
	}
	if l.UnderWay == 0 {
		l.UnderWay = 1024
	}
	if l.Conns == 0 {
		l.Conns = 16384
	}
	if l.ConnsFromOne == 0 {
		l.ConnsFromOne = max(1, l.Conns/2)
	}
	return l
}

// dialer bounds the time of a connect, and keeps all connects behind the guard.
func dialer(dial func(context.Context, string, string) (net.Conn, error), l Limits) func(context.Context, string, string) (net.Conn, error) {
	if dial == nil {
		guard, err := egress.New(egress.Options{ConnectTimeout: l.Connect})
		if err != nil { // only listeners can be wrong, and there are none
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

// newUpstream is the upstream of an environment as the engine calls it.
func (g *Gateway) newUpstream(e *environment) *engine.Upstream {
	secure := e.scheme == "https"
	address := e.host
	name, _, err := net.SplitHostPort(e.host)
	if err != nil { // the port is the scheme's
		port := "80"
		if secure {
			port = "443"
		}
		name = strings.Trim(e.host, "[]")
		address = net.JoinHostPort(name, port)
	}
	if !secure {
		return engine.NewUpstream(func(ctx context.Context) (net.Conn, error) { return g.dial(ctx, "tcp", address) })
	}
	config := g.secure.Clone()
	config.ServerName, config.NextProtos = name, []string{"http/1.1"}
	return engine.NewUpstream(func(ctx context.Context) (net.Conn, error) {
		plain, err := g.dial(ctx, "tcp", address)
		if err != nil {
			return nil, err
		}
		secured := tls.Client(plain, config)
		ctx, cancel := context.WithTimeout(ctx, g.limits.Connect)
		defer cancel()
		if err := secured.HandshakeContext(ctx); err != nil {
			_ = plain.Close()
			return nil, fmt.Errorf("TLS handshake with the upstream: %w", err)
		}
		return secured, nil
	})
}

// newTransport is the upstream side of the calls that net/http carries.
func newTransport(dial func(context.Context, string, string) (net.Conn, error), secure *tls.Config, l Limits) *http.Transport {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	return &http.Transport{
		Protocols:          &protocols,
		Proxy:              nil,  // a proxy from the environment would dial for us, past the guard
		DisableCompression: true, // or it would ask for gzip and unpack what the caller wanted packed
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return &patientConn{Conn: conn, patience: max(l.Header, l.Idle)}, nil
		},
		TLSClientConfig:        secure.Clone(),
		TLSHandshakeTimeout:    l.Connect,
		ResponseHeaderTimeout:  l.Header,
		MaxResponseHeaderBytes: l.ResponseBytes,
		// No bound over all hosts: idle connections to one upstream must not
		// push out another's.
		MaxIdleConns:        0,
		MaxIdleConnsPerHost: 256,
		IdleConnTimeout:     50 * time.Second, // below the 60 s after which servers commonly hang up
	}
}

// patientConn gives up on an upstream that neither sends nor takes a byte for
// the time of its patience. A write starts the wait for the answer anew: the
// read that will get it was begun when the connection fell idle.
type patientConn struct {
	net.Conn
	patience time.Duration
}

func (c *patientConn) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.patience)); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

func (c *patientConn) Write(p []byte) (int, error) {
	if err := c.SetDeadline(time.Now().Add(c.patience)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}
