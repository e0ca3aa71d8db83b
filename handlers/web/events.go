package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"postern/core/contract"
	"postern/service/access"
	"postern/service/exports"
	"postern/service/usage"
)

// eventTimeout is how long a client may read nothing of an event stream.
const eventTimeout = 10 * time.Second

// WantsEvents reports whether a request asks for server-sent events (WHATWG HTML, 9.2).
func WantsEvents(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "text/event-stream")
}

// StreamRequests answers with the project's requests that the query selects as server-sent events until the
// client is gone. It begins after the request with the id after. data encodes a request.
func (s *Site) StreamRequests(
	c *gin.Context, calls *usage.Service, after string, data func(contract.Request) ([]byte, error),
) {
	p := Principal(c.Request.Context())
	// By its id: another project may have its name soon.
	project, err := calls.MayFollow(c.Request.Context(), p, c.Param("project"))
	if err != nil {
		s.Refuse(c, err)
		return
	}
	in := contract.RequestList{
		ProjectPath: contract.ProjectPath{Project: project},
		RequestFilter: contract.RequestFilter{
			Status: c.Query("status"),
			Owner:  c.Query("owner"),
			Path:   c.Query("path"),
			Code:   c.Query("code"),
		},
	}
	may := func(ctx context.Context, p access.Principal) error {
		_, err := calls.MayFollow(ctx, p, project)
		return err
	}
	s.stream(c, may, func(ctx context.Context, out *eventStream) error {
		send := func(b usage.Batch) error { return out.send(b, data) }
		return calls.Follow(ctx, p, in, after, send)
	})
}

// stream answers with the events that follow sends while may allows it.
func (s *Site) stream(
	c *gin.Context, may func(context.Context, access.Principal) error,
	follow func(context.Context, *eventStream) error,
) {
	out := &eventStream{w: c.Writer, connection: http.NewResponseController(c.Writer)}
	s.WhileAllowed(c, may, func(ctx context.Context) {
		err := follow(ctx, out)
		switch {
		case err != nil && !out.begun:
			s.Refuse(c, err)
		case err != nil && ctx.Err() == nil && !errors.Is(err, errClientGone):
			s.LogCause(ctx, err)
		}
	})
}

// errClientGone wraps the error of a write to the stream.
var errClientGone = errors.New("the client of the event stream is gone")

type eventStream struct {
	w          http.ResponseWriter
	connection *http.ResponseController
	begun      bool
	buffer     bytes.Buffer
}

// StreamExport answers with an export as server-sent events until it is finished. event encodes
// it, as an event of the name or, with "", as a message.
func (s *Site) StreamExport(
	c *gin.Context, from *exports.Service, event func(contract.Export) (name string, data []byte, err error),
) {
	id, p := c.Param("export"), Principal(c.Request.Context())
	may := func(ctx context.Context, p access.Principal) error { return from.MayRead(ctx, p, id) }
	s.stream(c, may, func(ctx context.Context, out *eventStream) error {
		return from.Follow(ctx, p, id, func(e contract.Export) error { return out.sendExport(e, event) })
	})
}

func (e *eventStream) sendExport(now contract.Export, event func(contract.Export) (string, []byte, error)) error {
	e.buffer.Reset()
	if !e.begun {
		e.begin()
	}
	name, data, err := event(now)
	if err != nil {
		return err
	}
	if name != "" {
		fmt.Fprintf(&e.buffer, "event: %s\n", name)
	}
	e.data(data)
	return e.flush()
}

func (e *eventStream) send(b usage.Batch, data func(contract.Request) ([]byte, error)) error {
	e.buffer.Reset()
	if !e.begun {
		e.begin()
	}
	if b.Missed > 0 {
		fmt.Fprintf(&e.buffer, "event: missed\ndata: %d\n\n", b.Missed)
	}
	for _, r := range b.Requests {
		text, err := data(r)
		if err != nil {
			return err
		}
		fmt.Fprintf(&e.buffer, "id: %s\n", r.ID)
		e.data(text)
	}
	if e.buffer.Len() == 0 {
		e.buffer.WriteString(":\n\n") // a comment, whose write fails if the client is gone
	}
	return e.flush()
}

func (e *eventStream) begin() {
	e.begun = true
	h := e.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // or nginx buffers the stream
	e.w.WriteHeader(http.StatusOK)
	e.buffer.WriteString("retry: 2000\n\n")
}

// data writes the data of an event and ends it.
func (e *eventStream) data(text []byte) {
	for line := range bytes.Lines(text) {
		fmt.Fprintf(&e.buffer, "data: %s\n", bytes.TrimRight(line, "\r\n"))
	}
	e.buffer.WriteString("\n")
}

func (e *eventStream) flush() error {
	_ = e.connection.SetWriteDeadline(time.Now().Add(eventTimeout))
	if _, err := e.w.Write(e.buffer.Bytes()); err != nil {
		return fmt.Errorf("%w: %w", errClientGone, err)
	}
	if err := e.connection.Flush(); err != nil {
		return fmt.Errorf("%w: %w", errClientGone, err)
	}
	return nil
}
