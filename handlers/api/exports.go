package api

import (
	"encoding/json"
	"net/http"

	"github.com/gin-gonic/gin"

	"postern/core/contract"
)

// ExportRef is the path parameter of an export.
type ExportRef struct {
	Export string `path:"export" doc:"Id of the export"`
}

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

// followExport streams an export while it is built.
func (h *Handler) followExport(c *gin.Context) {
	h.Web.StreamExport(c, h.Exports, func(e contract.Export) (string, []byte, error) {
		data, err := json.Marshal(e)
		return "", data, err
	})
}

func (h *Handler) downloadExport(c *gin.Context) { h.Web.ServeExport(c, h.Exports) }

func (h *Handler) downloadLedger(c *gin.Context) { h.Web.ServeLedger(c, h.Exports) }
