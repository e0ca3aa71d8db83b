package handlers

import "github.com/gin-gonic/gin"

// Routes lists every route there is, for the test that each one is accounted for.
func (s *Server) Routes() gin.RoutesInfo {
	router := gin.New()
	s.routes(router)
	return router.Routes()
}
