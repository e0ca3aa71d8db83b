package gateway

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
)

// Server is the gateway's listener: net/http behind strict framing. Its methods
// are those of http.Server.
type Server struct {
	http *http.Server
	addr string
}

// Server makes a server for the address, HTTP/1.1 only. The caller starts it
// with Serve or ListenAndServe and stops it with Shutdown, then Close of the
// gateway.
func (g *Gateway) Server(addr string) *Server {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	return &Server{addr: addr, http: &http.Server{
		Handler:           g,
		Protocols:         &protocols,
		ReadHeaderTimeout: g.limits.ClientHeader,
		IdleTimeout:       g.limits.ClientIdle,
		MaxHeaderBytes:    g.limits.HeaderBytes,
		// Bodies have a deadline for each piece instead of one for the whole,
		// which would cut long uploads and streams.
		ReadTimeout:                  0,
		WriteTimeout:                 0,
		DisableGeneralOptionsHandler: true, // OPTIONS * is the table's to refuse
		ErrorLog:                     slog.NewLogLogger(g.log.Handler(), slog.LevelDebug),
		ConnContext:                  withConnInfo,
	}}
}

// Serve accepts connections until Shutdown; its error then is
// http.ErrServerClosed.
func (s *Server) Serve(l net.Listener) error { return s.http.Serve(strictListener{l}) }

// ListenAndServe listens on the server's address and serves.
func (s *Server) ListenAndServe() error {
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", s.addr)
	if err != nil {
		return fmt.Errorf("gateway: listen on %s: %w", s.addr, err)
	}
	return s.Serve(l)
}

// Shutdown stops accepting and waits for running calls, but not for tunnels.
func (s *Server) Shutdown(ctx context.Context) error { return s.http.Shutdown(ctx) }

// Close cuts every connection but tunnels.
func (s *Server) Close() error { return s.http.Close() }

// connInfo is what the upstream is told of the caller's connection. It is made
// once for each, not for each call.
type connInfo struct {
	peer   string // address without port
	port   string // of our listener
	scheme string
}

type connInfoKey struct{}

func withConnInfo(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connInfoKey{}, &connInfo{
		peer:   addrOnly(c.RemoteAddr().String()),
		port:   portOnly(c.LocalAddr().String()),
		scheme: "http",
	})
}

// connInfoOf falls back to what net/http knows when the call did not come
// through a Server of ours.
func connInfoOf(r *http.Request) *connInfo {
	if info, ok := r.Context().Value(connInfoKey{}).(*connInfo); ok {
		return info
	}
	info := &connInfo{peer: addrOnly(r.RemoteAddr), scheme: "http"}
	if r.TLS != nil {
		info.scheme = "https"
	}
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		info.port = portOnly(local.String())
	}
	return info
}

func addrOnly(hostport string) string {
	ap, err := netip.ParseAddrPort(hostport)
	if err != nil {
		return ""
	}
	return ap.Addr().Unmap().WithZone("").String()
}

func portOnly(hostport string) string {
	_, port, err := net.SplitHostPort(hostport)
	if err != nil {
		return ""
	}
	return port
}
