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
	"postern/service/usage"
)

// eventTimeout is how long a client may read nothing of an event stream.
const eventTimeout = 10 * time.Second

// WantsEvents reports whether a request is for server-sent events (WHATWG HTML, 9.2).
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
var errClientGone = errors.New("the client of an event stream has disconnected")

type eventStream struct {
	w          http.ResponseWriter
	connection *http.ResponseController
	begun      bool
	buffer     bytes.Buffer
}

// Event is one of a stream of server-sent events; without a name it is a message.
type Event struct {
	Name string
	Data []byte
}

// StreamEvents answers with what follow sends as server-sent events, while may allows it. event encodes one.
func StreamEvents[In, Item any](
	s *Site, c *gin.Context, in In,
	follow func(context.Context, access.Principal, In, func(Item) error) error,
	may func(context.Context, access.Principal, In) error,
	event func(Item) (Event, error),
) {
	p := Principal(c.Request.Context())
	still := func(ctx context.Context, p access.Principal) error { return may(ctx, p, in) }
	s.stream(c, still, func(ctx context.Context, out *eventStream) error {
		return follow(ctx, p, in, func(item Item) error {
			one, err := event(item)
			if err != nil {
				return err
			}
			return out.sendOne(one.Name, one.Data)
		})
	})
}

func (e *eventStream) sendOne(name string, data []byte) error {
	e.buffer.Reset()
	if !e.begun {
		e.begin()
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
