package handlers

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

// health says that the process runs.
func (s *Server) health(c *gin.Context) { c.String(http.StatusOK, "ok\n") }

// readiness says whether calls are served from a current state. One project in
// trouble is no reason to take all others out of service, but is said.
func (s *Server) readiness(c *gin.Context) {
	if err := s.Ready(c.Request.Context()); err != nil {
		s.Log.Warn("not ready", "error", err)
		c.String(http.StatusServiceUnavailable, "not ready\n")
		return
	}
	if alarm := s.Alarm(); alarm != "" {
		c.String(http.StatusOK, "ready, but %s\n", alarm)
		return
	}
	c.String(http.StatusOK, "ready\n")
}
