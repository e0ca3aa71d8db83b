package handlers

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

// routes mounts every surface, and answers what belongs to none of them.
func (s *Server) routes(r *gin.Engine) {
	r.NoRoute(func(c *gin.Context) { s.refuse(c, notFound()) })
	r.NoMethod(func(c *gin.Context) { s.respond(c.Writer, c.Request, wrongMethod(c.Request.Method)) })
	for _, method := range []string{http.MethodGet, http.MethodHead} { // load balancers ask with either
		r.Handle(method, "/healthz", gin.WrapF(s.health))
		r.Handle(method, "/readyz", func(c *gin.Context) { s.readiness(c.Writer, c.Request, s.Ready) })
	}
	r.GET("/metrics", gin.WrapF(s.showMetrics))
	s.apiRoutes(r)
	s.pages(r)
	s.issuers(r)
	s.provisioning(r)
}
