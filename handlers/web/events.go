package web

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"postern/service/usage"
)

// readerPatience is how long a reader of events may take none before he is cut
// off.
const eventTimeout = 10 * time.Second

// WantsEvents tells a reader of server-sent events (WHATWG HTML, 9.2).
func WantsEvents(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "text/event-stream")
}

// StreamRequests streams a project's requests, each in the shape that data gives it.
func (s *Site) StreamRequests(
	c *gin.Context,
	calls *usage.Service,
	after string,
	data func(usage.Request) ([]byte, error),
) {
	ctx := c.Request.Context()
	out := &eventStream{w: c.Writer, connection: http.NewResponseController(c.Writer)}
	send := func(b usage.Batch) error { return out.send(b, data) }
	err := calls.Follow(ctx, Principal(ctx), c.Param("project"), after, send)
	switch {
	case err != nil && !out.begun:
		s.Refuse(c, err)
	case err != nil && !errors.Is(err, errReaderGone):
		s.LogCause(ctx, err)
	}
}

// errReaderGone wraps what a write to a reader failed with.
var errReaderGone = errors.New("the reader of events is gone")

type eventStream struct {
	w          http.ResponseWriter
	connection *http.ResponseController
	begun      bool
	buffer     bytes.Buffer
}

func (e *eventStream) send(b usage.Batch, data func(usage.Request) ([]byte, error)) error {
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
		for line := range bytes.Lines(text) {
			fmt.Fprintf(&e.buffer, "data: %s\n", bytes.TrimRight(line, "\r\n"))
		}
		e.buffer.WriteString("\n")
	}
	if e.buffer.Len() == 0 {
		e.buffer.WriteString(":\n\n") // a comment, to find out whether somebody still reads
	}
	return e.flush()
}

func (e *eventStream) begin() {
	e.begun = true
	h := e.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // nginx would keep events back
	e.w.WriteHeader(http.StatusOK)
	e.buffer.WriteString("retry: 2000\n\n")
}

func (e *eventStream) flush() error {
	_ = e.connection.SetWriteDeadline(time.Now().Add(eventTimeout))
	if _, err := e.w.Write(e.buffer.Bytes()); err != nil {
		return fmt.Errorf("%w: %w", errReaderGone, err)
	}
	if err := e.connection.Flush(); err != nil {
		return fmt.Errorf("%w: %w", errReaderGone, err)
	}
	return nil
}
