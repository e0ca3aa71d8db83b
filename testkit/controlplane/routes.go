package controlplane

import (
	"sync"

	"github.com/gin-gonic/gin"

	"postern/handlers"
)

var routes struct {
	once sync.Once
	all  gin.RoutesInfo
}

// Routes returns the routes of s, which those of all servers are. To list them, a server registers every operation, so
// a test process does it once.
func Routes(s *handlers.Server) gin.RoutesInfo {
	routes.once.Do(func() { routes.all = s.Routes() })
	return routes.all
}
