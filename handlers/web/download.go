package web

import (
	"context"
	"io"
	"net/http"

	"github.com/gin-gonic/gin"

	"postern/core/contract"
	"postern/service/access"
)

// ServeFile answers with the file that open returns, while may allows it. With Ranges, it answers with the ranges that
// the client requests (RFC 9110, section 14): such a file never changes, so that its ETag is strong and a broken
// download can be resumed with If-Range. An answer that breaks off is shorter than its Content-Length.
func ServeFile[In any](
	s *Site, c *gin.Context, op *contract.Op[In, contract.File], in In,
	open func(context.Context, access.Principal, In) (contract.File, error),
	may func(context.Context, access.Principal, In) error,
) {
	file, err := open(c.Request.Context(), Principal(c.Request.Context()), in)
	if err != nil {
		s.Refuse(c, err)
		return
	}
	defer file.Close()
	c.Header("Content-Type", op.Answer)
	c.Header("Content-Disposition", `attachment; filename="`+file.Name+`"`)
	if file.SHA256 != "" {
		c.Header("ETag", `"`+file.SHA256+`"`)
	}
	still := func(ctx context.Context, p access.Principal) error { return may(ctx, p, in) }
	s.WhileAllowed(c, still, func(ctx context.Context) {
		from := readerUntil{file, ctx}
		if seeker, ok := file.ReadCloser.(io.Seeker); ok && op.Ranges {
			http.ServeContent(c.Writer, c.Request, "", file.WroteAt, readSeekerUntil{from, seeker})
			return
		}
		c.DataFromReader(http.StatusOK, file.Size, op.Answer, from, nil)
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
