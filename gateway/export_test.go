package gateway

// NetHTTPOnly makes a server that leaves every call to net/http, so that a test
// can compare the two paths.
func NetHTTPOnly(s *Server) *Server {
	s.engine = nil
	return s
}
