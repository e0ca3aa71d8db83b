package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Rewriter writes the headers of both sides. The engine writes the fields about framing.
type Rewriter interface {
	// RequestHead appends the upstream's request line and header, Host
	// included, without Content-Length and the empty line.
	RequestHead(dst []byte) []byte
	// ResponseHead appends the caller's header for a response, interim ones (1xx)
	// included, without Content-Length, Transfer-Encoding and the empty line.
	ResponseHead(dst []byte, r *Response) []byte
	// MayTrail reports whether a trailer of the response is passed on.
	MayTrail(name string) bool
}

// Forward sends the request to the upstream and the response to the caller. It returns the
// status of the response, 0 if none was received.
//
// Forward sends a call a second time in one case: it has no body, its method is safe, and a
// reused connection ended before the first byte of a response.
func (x *Exchange) Forward(up *Upstream, rw Rewriter) (status int, err error) {
	x.take()
	x.page.out = x.appendRequest(x.page.out[:0], rw)
	b := up.take(x.now)
	again := b != nil && x.Request.Length == 0 && isSafe(x.Request.Method)
	for {
		if b == nil {
			if b, err = x.connect(up); err != nil {
				return 0, err
			}
			x.now = time.Now()
		}
		err = x.exchange(up, b, rw)
		if err == nil {
			break
		}
		if errors.Is(err, errStale) {
			x.drop(b)
			b = up.take(x.now)
			again = again && b != nil
			continue
		}
		silent := b.in.empty() && x.response.Status == 0
		x.drop(b)
		switch {
		case x.conn.hasLeft() || x.broken:
			x.broken = true
			return 0, ErrCaller
		case !again || !silent || isTimeout(err):
			return 0, err
		}
		b, again = nil, false
	}
	if x.MaxResponse > 0 && x.response.framing == lengthKnown && x.response.length > x.MaxResponse {
		x.drop(b)
		return 0, ErrResponseTooLarge
	}
	x.silence = up.timeouts.silence(&x.response)
	if err := x.relay(b, rw); err != nil {
		x.drop(b)
		x.broken = true
		return x.response.Status, err
	}
	x.conn.watchNothing()
	switch {
	case x.bodyLeft > 0:
		b.cut()
	case x.response.closes:
		b.close()
	default:
		up.put(b, x.heard, x.response.keepAlive)
	}
	return x.response.Status, nil
}

// drop closes a connection that must not be used again.
func (x *Exchange) drop(b *backend) {
	x.conn.watchNothing()
	b.cut()
}

func isSafe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

func (x *Exchange) connect(up *Upstream) (*backend, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*up.timeouts.Connect)
	defer cancel()
	x.conn.watchFor(cancel)
	b, err := up.connect(ctx)
	x.conn.watchNothing()
	if x.conn.hasLeft() {
		if b != nil {
			b.close()
		}
		x.broken = true
		return nil, ErrCaller
	}
	return b, err
}

func (x *Exchange) appendRequest(out []byte, rw Rewriter) []byte {
	out = rw.RequestHead(out)
	// As in net/http, there is no Content-Length if there is no body and the method expects
	// none.
	switch x.Request.Method {
	case http.MethodPost, http.MethodPut, http.MethodPatch:
		out = appendLength(out, x.Request.Length)
	default:
		if x.Request.Length > 0 {
			out = appendLength(out, x.Request.Length)
		}
	}
	return append(out, '\r', '\n')
}

// exchange sends the request and receives the head of the response.
func (x *Exchange) exchange(up *Upstream, b *backend, rw Rewriter) error {
	x.conn.watchFor(b.abort)
	sent := x.sendRequest(&up.timeouts, b)
	if errors.Is(sent, ErrBody) || errors.Is(sent, errStale) {
		return sent
	}
	// An upstream that closed before the request was sent may have responded first.
	switch err := x.receive(&up.timeouts, b, rw); {
	case err != nil && sent != nil:
		return sent
	case err != nil:
		return err
	case x.response.Status == http.StatusSwitchingProtocols:
		return fmt.Errorf("%w: it switched protocols without a request for it", ErrResponse)
	case sent != nil: // the next request would be read as the rest of this one
		x.response.closes = true
	}
	return nil
}

// sendRequest writes the head and then streams the body.
func (x *Exchange) sendRequest(timeouts *Timeouts, b *backend) error {
	c, limits := x.conn, &x.conn.server.Limits
	b.writeWithin(x.now, timeouts.Idle)
	if x.bodyLeft > 0 {
		x.page.out = x.appendBody(x.page.out) // once: a retry on another connection sends the same bytes
	}
	waited := time.Duration(0)
	for out := x.page.out; ; {
		if x.bodyLeft == 0 {
			if c.in.empty() {
				c.in.release()
			}
			b.readWithin(x.now, timeouts.Response)
			if err := b.ask(out); err != nil {
				return fmt.Errorf("send the request to the upstream: %w", err)
			}
			return nil
		}
		if err := b.begin(out); err != nil {
			return fmt.Errorf("send the request to the upstream: %w", err)
		}
		began := time.Now()
		c.readWithin(began, limits.BodyWait(x.BytesIn, waited))
		if err := c.fill(); err != nil {
			x.bodyFailed = true
			return errors.Join(ErrBody, err)
		}
		x.now = time.Now()
		waited += x.now.Sub(began)
		b.writeWithin(x.now, timeouts.Idle)
		out = x.appendBody(out[:0])
	}
}

// appendBody moves the bytes of the body that are in the inbox to out.
func (x *Exchange) appendBody(out []byte) []byte {
	in := &x.conn.in
	n := int(min(x.bodyLeft, int64(len(in.held()))))
	out = append(out, in.held()[:n]...)
	in.use(n)
	x.bodyLeft -= int64(n)
	x.BytesIn += int64(n)
	return out
}

// maxInterim bounds the 1xx responses before the final one.
const maxInterim = 16

// receive reads responses until the final one and forwards interim ones.
func (x *Exchange) receive(timeouts *Timeouts, b *backend, rw Rewriter) error {
	keep := func(head []byte) string { return x.page.keep(ofAnswer, head) }
	bounds := headBounds{timeouts, x.conn.server.Limits.ResponseBytes}
	return b.receive(&x.response, x.Request.Method, bounds, keep, func(r *Response) error {
		out := appendStatus(nil, r.Status)
		out = rw.ResponseHead(out, r)
		if !x.send(append(out, '\r', '\n')) {
			return ErrCaller
		}
		return nil
	})
}

// headBounds bound the head of a response.
type headBounds struct {
	*Timeouts
	bytes int
}

// receive reads responses until the final one, whose head it leaves in r. It calls interim for
// the others, except 100. The strings of r share the memory of what keep returns.
func (b *backend) receive(
	r *Response, method string, bounds headBounds, keep func([]byte) string, interim func(*Response) error,
) error {
	for range maxInterim {
		if err := b.receiveHead(r, method, bounds, keep); err != nil {
			return err
		}
		switch {
		case r.Status >= 200 || r.Status == http.StatusSwitchingProtocols:
			return nil
		case r.Status != http.StatusContinue:
			if err := interim(r); err != nil {
				return err
			}
		}
	}
	return fmt.Errorf("%w: too many interim responses", ErrResponse)
}

// receiveHead reads one head. As on Kong, the limit is on the time between two reads.
func (b *backend) receiveHead(r *Response, method string, bounds headBounds, keep func([]byte) string) error {
	for looked := 0; ; {
		held := b.in.held()
		if size := headEnd(held, looked); size > 0 {
			err := r.parse(keep(held[:size]), method)
			b.in.use(size)
			return err
		}
		looked = len(held)
		if looked >= bounds.bytes || !mayBeHTTP(held) {
			return ErrResponse
		}
		if len(b.in.free()) == 0 && !b.in.enlarge() {
			return ErrResponse
		}
		wait := bounds.Response
		if looked > 0 {
			wait = bounds.Idle
		}
		b.readWithin(time.Now(), wait)
		if err := b.fill(); err != nil {
			if errors.Is(err, io.EOF) && looked > 0 {
				err = io.ErrUnexpectedEOF
			}
			return fmt.Errorf("read the upstream's response: %w", err)
		}
	}
}

// mayBeHTTP reports whether part can be the beginning of a response.
func mayBeHTTP(part []byte) bool {
	const begin = "HTTP/1."
	n := min(len(part), len(begin))
	return string(part[:n]) == begin[:n]
}

// headEnd returns the length of the head at the beginning of p, 0 if p does not contain the end
// of the head. The first looked bytes were searched before.
func headEnd(p []byte, looked int) int {
	from := max(0, looked-2)
	p = p[from:]
	size := 0
	if at := bytes.Index(p, endOfLines); at >= 0 {
		size, p = from+at+len(endOfLines), p[:at+1]
	}
	if at := bytes.Index(p, endOfBareLines); at >= 0 {
		size = from + at + len(endOfBareLines)
	}
	return size
}

// An empty line, with the end of the one before it.
var endOfLines, endOfBareLines = []byte("\n\r\n"), []byte("\n\n")
