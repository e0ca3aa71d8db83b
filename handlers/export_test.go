package handlers

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
)

// Patiently is what stands before every route, with less patience.
func Patiently(patience time.Duration, next http.Handler) http.Handler {
	return patiently(patience, next)
}

// Routes lists every route there is, for the test that each one is accounted for.
func (s *Server) Routes() gin.RoutesInfo {
	router := gin.New()
	s.routes(router)
	return router.Routes()
}
