package gateway

import (
	"net"

	"postern/gateway/engine"
)

// HeldBodies returns how many bytes of bodies calls hold.
func (g *Gateway) HeldBodies() int64 { return g.bodies.inUse() }

// NetHTTPOnly creates a server that leaves every call to net/http, so that a test
// can compare the two paths. Over TLS it is still the engine that accepts.
func NetHTTPOnly(s *Server) *Server {
	if s.engine.Secure == nil {
		s.engine = nil
	} else {
		s.engine.NewSession = func(net.Conn) engine.Session { return declining{} }
	}
	return s
}

type declining struct{}

func (declining) Serve(*engine.Exchange) bool { return false }
func (declining) MayContinue() bool           { return true }
func (declining) End()                        {}
