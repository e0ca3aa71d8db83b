package api

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

// showExportKeys answers with the public keys that `postern verify --signed-by` verifies
// exports with, as PEM (RFC 8410).
func (h *Handler) showExportKeys(c *gin.Context) {
	keys, err := h.Exports.PublicKeys(c.Request.Context())
	if err != nil {
		h.Web.Refuse(c, err)
		return
	}
	c.Header("Cache-Control", "public, max-age=300")
	c.Data(http.StatusOK, "application/x-pem-file", keys)
}
