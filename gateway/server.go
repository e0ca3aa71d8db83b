package gateway

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"

	"postern/core/policy"
	"postern/gateway/admission"
	"postern/gateway/engine"
	"postern/gateway/h2"
)

// Server serves a gateway's listener: plain requests with the engine, HTTP/2 with package h2, and the rest with
// net/http behind strict framing. Its methods are those of http.Server.
type Server struct {
	http    *http.Server
	http2   *h2.Server
	http2go *http.Server   // for HTTP2NetHTTP: serves HTTP/2 instead of http2; else nil
	engine  *engine.Server // nil: net/http serves everything
	gateway *Gateway
	addr    string
	bounded atomic.Pointer[admission.Listener] // nil before Serve
}

// Server returns a server for the address. It serves HTTP/1.1, and HTTP/2 over TLS. The caller starts it with Serve or
// ListenAndServe and stops it with Shutdown and then Gateway.Close.
func (g *Gateway) Server(addr string) *Server {
	recovered := func(fault any, stack []byte) {
		g.log.Error("a call failed because of an internal error", "fault", fmt.Sprint(fault), "stack", string(stack))
	}
	multiplexed := &h2.Server{Handler: g, Limits: g.limits.http2(), ConnContext: g.withConnInfo, Recovered: recovered}
	fast := &engine.Server{
		NewSession: g.newSession,
		Secure:     g.callerTLS,
		ServeHTTP2: multiplexed.Serve,
		PlainHTTP2: g.plainHTTP2,
		Limits:     g.engineLimits,
		Recovered:  recovered,
	}
	s := &Server{addr: addr, gateway: g, engine: fast, http2: multiplexed, http: g.netHTTP(false)}
	if g.http2 == HTTP2NetHTTP {
		s.http2go = g.netHTTP(true)
	}
	return s
}

// netHTTP returns a server for HTTP/1.1, or for connections that have agreed on HTTP/2.
func (g *Gateway) netHTTP(multiplexed bool) *http.Server {
	var protocols http.Protocols
	protocols.SetHTTP1(!multiplexed)
	protocols.SetHTTP2(multiplexed)
	protocols.SetUnencryptedHTTP2(multiplexed && g.plainHTTP2)
	return &http.Server{
		Handler:           g,
		Protocols:         &protocols,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: maxStreams},
		ReadHeaderTimeout: g.limits.ClientHeader,
		IdleTimeout:       g.limits.ClientIdle,
		MaxHeaderBytes:    g.limits.HeaderBytes,
		// Bodies have a deadline for each read instead: one for the whole body would cut
		// long uploads and streams off.
		ReadTimeout:                  0,
		WriteTimeout:                 0,
		DisableGeneralOptionsHandler: true, // OPTIONS * is refused like any address without a route
		ErrorLog:                     slog.NewLogLogger(g.log.Handler(), slog.LevelDebug),
		ConnContext:                  g.withConnInfo,
	}
}

// Serve accepts connections until Shutdown; its error then is
// http.ErrServerClosed.
func (s *Server) Serve(l net.Listener) error {
	l = s.admit(l)
	if s.engine == nil {
		return s.http.Serve(strictListener{l})
	}
	rest := engine.NewHandover(l.Addr())
	s.engine.Fallback = rest
	var others sync.WaitGroup
	others.Go(func() { _ = s.http.Serve(strictListener{rest}) })
	multiplexed := engine.NewHandover(l.Addr())
	if s.http2go != nil {
		s.engine.ServeHTTP2 = multiplexed.Give
		others.Go(func() { _ = s.http2go.Serve(multiplexed) })
	}
	err := s.engine.Serve(l)
	if !errors.Is(err, http.ErrServerClosed) {
		// After Shutdown and Close, the servers' own close these when the engine is done.
		_, _ = rest.Close(), multiplexed.Close()
		others.Wait()
	}
	return err
}

// admit wraps a listener with the limits on connections.
func (s *Server) admit(l net.Listener) net.Listener {
	g := s.gateway
	bounded := &admission.Listener{
		Listener:   l,
		Name:       "gateway",
		Max:        g.limits.Conns,
		PerAddress: g.limits.ConnsFromOne,
		Exempt:     g.isTrusted,
		Log:        g.log,
	}
	if s.engine != nil {
		bounded.MakeRoom = s.engine.EndIdle
	}
	s.bounded.Store(bounded)
	return bounded
}

// Conns returns the number of callers' open connections, and its limit.
func (s *Server) Conns() (open, most int) {
	if l := s.bounded.Load(); l != nil {
		open = l.Open()
	}
	return open, s.gateway.limits.Conns
}

// ListenAndServe listens on the server's address and serves.
func (s *Server) ListenAndServe() error {
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", s.addr)
	if err != nil {
		return fmt.Errorf("gateway: listen on %s: %w", s.addr, err)
	}
	return s.Serve(l)
}

// Shutdown stops accepting connections and waits for running calls, but not for tunnels.
func (s *Server) Shutdown(ctx context.Context) error {
	if s.engine == nil {
		return s.http.Shutdown(ctx)
	}
	// The engine comes first: it may still hand connections over.
	err := errors.Join(s.engine.Shutdown(ctx), s.http2.Shutdown(ctx), s.http.Shutdown(ctx))
	if s.http2go != nil {
		err = errors.Join(err, s.http2go.Shutdown(ctx))
	}
	return err
}

// Close closes every connection except tunnels.
func (s *Server) Close() error {
	if s.engine == nil {
		return s.http.Close()
	}
	err := errors.Join(s.engine.Close(), s.http2.Close(), s.http.Close())
	if s.http2go != nil {
		err = errors.Join(err, s.http2go.Close())
	}
	return err
}

// connInfo describes a caller's connection, for decisions and for the headers that the
// upstream gets. It is created once per connection.
type connInfo struct {
	peer    string       // the caller's address without port; behind a trusted proxy, the address the proxy reports
	addr    netip.Addr   // peer, parsed
	network netip.Prefix // of addr, for limits by address: policy.Network
	hop     string       // the address that connected: peer, or a trusted proxy
	trusted bool         // hop is a trusted proxy
	port    string       // of our listener
	scheme  string

	local     netip.Addr // the address that was connected to
	localHost string     // the same, as in a Host line

	forwarded map[string]string // X-Forwarded headers of a trusted proxy, by name; see trusted.go
}

type connInfoKey struct{}

func (g *Gateway) withConnInfo(ctx context.Context, c net.Conn) context.Context {
	info := g.connInfoFor(c)
	return context.WithValue(ctx, connInfoKey{}, &info)
}

func (g *Gateway) connInfoFor(c net.Conn) connInfo {
	info := g.connInfo(c.RemoteAddr().String())
	info.at(c.LocalAddr())
	if isSecure(c) {
		info.scheme = "https"
	}
	return info
}

// connInfo returns the properties that depend on the remote address.
func (g *Gateway) connInfo(remote string) connInfo {
	info := connInfo{scheme: "http"}
	if ap, err := netip.ParseAddrPort(remote); err == nil {
		info.addr = ap.Addr().Unmap().WithZone("")
		info.network = policy.Network(info.addr)
		info.peer, info.trusted = info.addr.String(), g.isTrusted(info.addr)
	}
	info.hop = info.peer
	return info
}

// isSecure reports whether a connection, or one that it wraps, is TLS.
func isSecure(c net.Conn) bool {
	for {
		if _, ok := c.(*tls.Conn); ok {
			return true
		}
		over, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			return false
		}
		c = over.NetConn()
	}
}

// connInfoOf returns the connection info of a request. For one that did not come through a
// Server of this package it uses what net/http has.
func (g *Gateway) connInfoOf(r *http.Request) *connInfo {
	if info, ok := r.Context().Value(connInfoKey{}).(*connInfo); ok {
		return info
	}
	info := g.connInfo(r.RemoteAddr)
	if r.TLS != nil {
		info.scheme = "https"
	}
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		info.at(local)
	}
	return &info
}

// at fills in the local address.
func (i *connInfo) at(local net.Addr) {
	host, port, err := net.SplitHostPort(local.String())
	if err != nil {
		return
	}
	i.port, i.localHost = port, host
	if addr, err := netip.ParseAddr(host); err == nil {
		if i.local = addr.Unmap().WithZone(""); i.local.Is6() {
			i.localHost = "[" + i.local.String() + "]"
		}
	}
}
