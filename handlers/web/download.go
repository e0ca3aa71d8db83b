package web

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"postern/service/exports"
)

// ServeExport answers with the zip of the export that the path names, or with the ranges of
// it that the request asks for (RFC 9110, section 14). A finished zip never changes, so that
// its ETag is strong and a broken download can be resumed with If-Range.
func (s *Site) ServeExport(c *gin.Context, from *exports.Service) {
	file, err := from.Open(c.Request.Context(), Principal(c.Request.Context()), c.Param("export"))
	if err != nil {
		s.Refuse(c, err)
		return
	}
	defer file.Close()
	c.Header("Content-Type", "application/zip")
	c.Header("Content-Disposition", `attachment; filename="`+file.Name+`"`)
	c.Header("ETag", `"`+file.SHA256+`"`)
	http.ServeContent(c.Writer, c.Request, "", file.WroteAt, file)
}

// ServeLedger answers with the whole ledger of the export that the path names, out of its zip.
// An answer that breaks off is shorter than its Content-Length.
func (s *Site) ServeLedger(c *gin.Context, from *exports.Service) {
	file, err := from.OpenLedger(c.Request.Context(), Principal(c.Request.Context()), c.Param("export"))
	if err != nil {
		s.Refuse(c, err)
		return
	}
	defer file.Close()
	c.DataFromReader(http.StatusOK, file.Size, "application/json", file, map[string]string{
		"Content-Disposition": `attachment; filename="` + file.Name + `"`,
	})
}
