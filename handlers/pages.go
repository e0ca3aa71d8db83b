package handlers

import "github.com/gin-gonic/gin"

func (s *Server) pages(*gin.Engine) {}
