package controlplane

import (
	"sync"

	"postern/handlers"
)

var routes struct {
	once sync.Once
	all  handlers.RouteList
}

// Routes returns the routes of s, which those of all servers are. To list them, a server registers every operation, so
// a test process does it once.
func Routes(s *handlers.Server) handlers.RouteList {
	routes.once.Do(func() { routes.all = s.Routes() })
	return routes.all
}
