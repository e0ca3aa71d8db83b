package web

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"postern/service/exports"
)

// ServeExport answers with the zip of the export that the path names.
func (s *Site) ServeExport(c *gin.Context, from *exports.Service) {
	file, err := from.Open(c.Request.Context(), Principal(c.Request.Context()), c.Param("export"))
	if err != nil {
		s.Refuse(c, err)
		return
	}
	defer file.Close()
	c.Header("Content-Type", "application/zip")
	c.Header("Content-Disposition", `attachment; filename="`+file.Name+`"`)
	http.ServeContent(c.Writer, c.Request, "", time.Time{}, file)
}
