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

// Rewriter writes the headers of requests and responses. The engine writes the fields about framing.
type Rewriter interface {
	// RequestHead appends the upstream's request line and header, Host
	// included, without Content-Length and the empty line. It is called for each try.
	RequestHead(dst []byte) []byte
	// ResponseHead appends the caller's header for a response, interim ones (1xx)
	// included, without Content-Length, Transfer-Encoding and the empty line.
	ResponseHead(dst []byte, r *Response) []byte
	// MayTrail reports whether a trailer of the response is passed on.
	MayTrail(name string) bool
	// KeepBody reports whether there is memory to keep that many bytes of the body for another try, until the call is
	// over. It is called at most once.
	KeepBody(bytes int64) bool
}

// Forward sends the request to the upstreams of tries until one responds, and sends the response to the caller. It
// returns the status of the response, or 0 if there was none.
func (x *Exchange) Forward(tries Tries, rw Rewriter) (status int, err error) {
	x.take()
	if x.Request.Length > 0 && x.Request.Length <= MaxKept && IsIdempotent(x.Request.Method) {
		x.keeping = rw.KeepBody(x.Request.Length)
	}
	up := tries.Next(Try{})
	b, last := x.try(up, rw, up.take(x.now))
	for next := tries.Next(last); next != nil; next = tries.Next(last) {
		if b != nil {
			x.drop(b)
		}
		up = next
		x.readClock()
		// Not on an idle connection: it may be as old as the one that has just ended.
		b, last = x.try(up, rw, nil)
	}
	if last.Err != nil {
		return 0, last.Err
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

// try sends the request and receives the head of the response, on b if that is a connection that can be used. Something
// may have arrived on a connection that was idle; then nothing is sent on it, and another one takes its place.
func (x *Exchange) try(up *Upstream, rw Rewriter, b *backend) (*backend, Try) {
	x.beginTry(rw)
	for {
		if b == nil {
			var err error
			if b, err = x.connect(up); err != nil {
				return nil, x.failed(Try{Upstream: up, Outcome: Unsent, Err: err, Again: true})
			}
			x.now = time.Now()
		}
		err := x.exchange(up, b, rw)
		if err == nil {
			return b, Try{Upstream: up, Outcome: Answered, Status: x.response.Status, Again: x.canRepeat()}
		}
		stale, silent, wrote := errors.Is(err, errStale), b.in.empty() && x.response.Status == 0, b.wrote
		x.drop(b)
		switch {
		case stale:
			b = up.take(x.now)
			continue
		case errors.Is(err, ErrBody):
			return nil, x.failed(Try{Upstream: up, Outcome: Abandoned, Err: err})
		case !wrote:
			return nil, x.failed(Try{Upstream: up, Outcome: Unsent, Err: err, Again: silent})
		case isTimeout(err):
			return nil, x.failed(Try{Upstream: up, Outcome: TimedOut, Err: err, Again: silent && x.canRepeat()})
		default:
			return nil, x.failed(Try{Upstream: up, Outcome: BrokenOff, Err: err, Again: silent && x.canRepeat()})
		}
	}
}

// beginTry writes the head of the request for a try, with the bytes of the body that earlier tries have read.
func (x *Exchange) beginTry(rw Rewriter) {
	x.response.Status = 0
	read := x.page.body
	if x.tried && !x.keeping { // nothing was sent, so everything that was read is still there
		read = append(read[:0], x.page.out[x.headEnd:]...)
		x.page.body = read
	}
	x.tried = true
	x.page.out = x.appendRequest(x.page.out[:0], rw)
	x.headEnd = len(x.page.out)
	x.page.out = append(x.page.out, read...)
}

// failed returns a try without a response, or an abandoned one if the caller has left.
func (x *Exchange) failed(t Try) Try {
	if x.conn.hasLeft() || x.broken {
		x.broken = true
		return Try{Upstream: t.Upstream, Outcome: Abandoned, Err: ErrCaller}
	}
	return t
}

// canRepeat reports whether the request can be sent again although it may have been acted on.
func (x *Exchange) canRepeat() bool {
	return !x.informed && IsIdempotent(x.Request.Method) && (x.Request.Length == 0 || x.keeping)
}

// drop closes a connection that must not be used again.
func (x *Exchange) drop(b *backend) {
	x.conn.watchNothing()
	b.cut()
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
	b.wrote = false
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
		return fmt.Errorf("%w: it switched protocols without being asked", ErrResponse)
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
		x.page.out = x.appendBody(x.page.out) // once: another connection gets the same bytes
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
	if x.keeping {
		x.page.body = append(x.page.body, in.held()[:n]...)
	}
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
		x.informed = true
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
