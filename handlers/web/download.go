package web

import (
	"context"
	"io"
	"net/http"

	"github.com/gin-gonic/gin"

	"postern/service/access"
	"postern/service/exports"
)

// ServeExport answers with the zip of the export that the path names, or with the ranges of
// it that the request asks for (RFC 9110, section 14). A finished zip never changes, so that
// its ETag is strong and a broken download can be resumed with If-Range.
func (s *Site) ServeExport(c *gin.Context, from *exports.Service) {
	id := c.Param("export")
	file, err := from.Open(c.Request.Context(), Principal(c.Request.Context()), id)
	if err != nil {
		s.Refuse(c, err)
		return
	}
	defer file.Close()
	c.Header("Content-Type", "application/zip")
	c.Header("Content-Disposition", `attachment; filename="`+file.Name+`"`)
	c.Header("ETag", `"`+file.SHA256+`"`)
	may := func(ctx context.Context, p access.Principal) error { return from.MayDownload(ctx, p, id) }
	s.WhileAllowed(c, may, func(ctx context.Context) {
		http.ServeContent(c.Writer, c.Request, "", file.WroteAt, readSeekerUntil{readerUntil{file, ctx}, file})
	})
}

// readerUntil fails once its context has ended.
type readerUntil struct {
	io.Reader

	ctx context.Context //nolint:containedctx // of the answer that is read for
}

func (r readerUntil) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.Reader.Read(p)
}

type readSeekerUntil struct {
	readerUntil
	io.Seeker
}

// ServeLedger answers with the whole ledger of the export that the path names, out of its zip.
// An answer that breaks off is shorter than its Content-Length.
func (s *Site) ServeLedger(c *gin.Context, from *exports.Service) {
	id := c.Param("export")
	file, err := from.OpenLedger(c.Request.Context(), Principal(c.Request.Context()), id)
	if err != nil {
		s.Refuse(c, err)
		return
	}
	defer file.Close()
	may := func(ctx context.Context, p access.Principal) error { return from.MayDownloadLedger(ctx, p, id) }
	s.WhileAllowed(c, may, func(ctx context.Context) {
		header := map[string]string{"Content-Disposition": `attachment; filename="` + file.Name + `"`}
		c.DataFromReader(http.StatusOK, file.Size, "application/json", readerUntil{file, ctx}, header)
	})
}
