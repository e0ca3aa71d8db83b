package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"time"

	"postern/core/contract"
	"postern/platform/fault"
)

// Upload carries out an operation whose body is a file of that size, in bytes. The answer to a large one takes minutes.
func Upload[In, Out any](
	ctx context.Context, c *Client, op *contract.Op[In, Out], in In, file io.ReaderAt, size int64,
) (Out, error) {
	var out Out
	err := c.upload(ctx, &op.Operation, in, file, size, &out)
	return out, err
}

func (c *Client) upload(
	ctx context.Context, op *contract.Operation, in any, file io.ReaderAt, size int64, into any,
) error {
	r := requestOf(op.Path, in)
	path, err := pathOf(r.segments)
	if err != nil {
		return err
	}
	content := func() (io.ReadCloser, error) { return io.NopCloser(io.NewSectionReader(file, 0, size)), nil }
	body, _ := content()
	request, err := http.NewRequestWithContext(ctx, op.Method, c.base+path+r.query(), body)
	if err != nil {
		return fmt.Errorf("client: create the request: %w", err)
	}
	request.ContentLength, request.GetBody = size, content
	request.Header.Set("Accept", accepted)
	request.Header.Set("Content-Type", op.Body)
	response, err := c.Patient().sendAuthorized(request)
	if err != nil {
		return err
	}
	return c.decode(response, into)
}

// Patient returns a copy of the client that waits for an answer as long as its caller does.
func (c *Client) Patient() *Client {
	out, waits := *c, *c.http
	transport := c.http.Transport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = 0
	waits.Transport = transport
	out.http = &waits
	return &out
}

// Download carries out an operation whose answer is a file, and writes it to w. It reads at most that many bytes,
// unless that is 0, and returns how many. After an error, the caller has to discard the output.
func Download[In any](
	ctx context.Context, c *Client, op *contract.Op[In, contract.File], in In, w io.Writer, most int64,
) (int64, error) {
	r := requestOf(op.Path, in)
	response, err := c.send(ctx, op.Method, r.body, r.query(), r.segments)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	from := &source{Reader: response.Body}
	var content io.Reader = from
	if most > 0 {
		content = io.LimitReader(from, most)
	}
	n, err := io.Copy(w, content)
	switch {
	case ctx.Err() != nil:
		return n, context.Cause(ctx)
	case from.failed != nil: // also of a response that ended early
		return n, fault.New(fault.Unavailable, "download_cut_off", "The download was interrupted after %d bytes. Try "+
			"again.",
			n).Because(from.failed)
	case err != nil:
		return n, fmt.Errorf("write the download: %w", err)
	}
	return n, nil
}

// Bounds on the silence of a stream. The server sends an event at once, and then at least every 15 seconds.
const (
	firstEventWithin = 10 * time.Second
	nextEventWithin  = 45 * time.Second
)

// Follow iterates over the events of a stream, until the server ends it. It ends after the first error.
func Follow[In, Item any](
	ctx context.Context, c *Client, op *contract.Op[In, contract.Events[Item]], in In,
) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		silence := time.AfterFunc(c.firstEvent, stop)
		defer silence.Stop()
		r := requestOf(op.Path, in)
		response, err := c.stream(ctx, "", r.values, r.segments...)
		if err != nil {
			var none Item
			yield(none, err)
			return
		}
		defer response.Body.Close()
		for event := range eventsOf(response.Body) {
			silence.Reset(nextEventWithin)
			var item Item
			if err := json.Unmarshal([]byte(event.data), &item); err != nil {
				yield(item, c.unexpected(err))
				return
			}
			if !yield(item, nil) {
				return
			}
		}
	}
}
