package client

import (
	"bufio"
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"

	"postern/platform/fault"
)

// maxEventLine bounds a line of a stream of events, in bytes.
const maxEventLine = 1 << 20

// errNoStream is returned for a response that is not an event stream.
var errNoStream = errors.New("the response isn't an event stream")

// stream opens a stream of server-sent events (WHATWG HTML, 9.2) after the event with the id
// after, "" for its beginning. The caller closes the body.
func (c *Client) stream(
	ctx context.Context, after string, query url.Values, segments ...string,
) (*http.Response, error) {
	suffix := ""
	if len(query) > 0 {
		suffix = "?" + query.Encode()
	}
	header := http.Header{"Accept": {"text/event-stream, application/problem+json"}}
	if after != "" {
		header.Set("Last-Event-ID", after)
	}
	response, err := c.sendWith(ctx, http.MethodGet, nil, suffix, segments, header)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		response.Body.Close()
		return nil, fault.New(fault.Internal, "unexpected_answer", "The server at %s isn't a Postern server. Check "+
			"the URL.", c.base).Because(errNoStream)
	}
	return response, nil
}

type event struct{ name, id, data string }

// eventsOf reads a stream to its end, or until the connection is cut. Events without data are
// left out.
func eventsOf(from io.Reader) iter.Seq[event] {
	return func(yield func(event) bool) {
		lines := bufio.NewScanner(from)
		lines.Buffer(nil, maxEventLine)
		var e event
		for lines.Scan() {
			field, value, _ := strings.Cut(lines.Text(), ": ")
			switch field {
			case "event":
				e.name = value
			case "id":
				e.id = value
			case "data":
				e.data += value
			case "":
				if e.data != "" && !yield(e) {
					return
				}
				e = event{}
			}
		}
	}
}
