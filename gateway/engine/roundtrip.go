package engine

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Requester creates the requests of a call of the fallback.
type Requester interface {
	// Request returns the request for a try. It is called once per try.
	Request() *http.Request
	// Kept reports whether Request can be called again: there is no body, or everything that was read of it was kept.
	Kept() bool
	// Interim passes a 1xx response on to the caller.
	Interim(r *Response) error
}

// RoundTrip forwards a call of the fallback, over the same connections and by the same rules as Forward. It replaces
// http.Transport. It calls Interim for 1xx responses except 100. The body of a 101 is a *Switched.
//
// The request is written as net/http writes it. If the upstream responds early, the body may still be read after the
// end of the response, until a read fails.
func RoundTrip(tries Tries, from Requester, limits *Limits) (*http.Response, error) {
	up := tries.Next(Try{})
	response, last := up.roundTrip(from, limits, true)
	for next := tries.Next(last); next != nil; next = tries.Next(last) {
		if response != nil {
			_ = response.Body.Close()
		}
		response, last = next.roundTrip(from, limits, false)
	}
	return response, last.Err
}

// roundTrip is one try of a call, on an idle connection if reuse is set and there is one.
func (u *Upstream) roundTrip(from Requester, limits *Limits, reuse bool) (*http.Response, Try) {
	r := from.Request()
	if response, t, ok := u.multiplex(r, from); ok {
		return response, t
	}
	hasBody := r.Body != nil && r.Body != http.NoBody
	for {
		var b *backend
		if reuse {
			b = u.idleFor(hasBody)
		}
		if b == nil {
			var err error
			if b, err = u.connectFor(r.Context()); err != nil {
				return nil, leftOr(r, Try{Upstream: u, Outcome: Unsent, Err: err, Again: true})
			}
		}
		b.wrote = false
		p := &passage{up: u, b: b, request: r, sent: make(chan struct{})}
		response, err := p.exchange(hasBody, limits.ResponseBytes, func(i *Response) error {
			p.informed = true
			return from.Interim(i)
		})
		if err == nil {
			again := !p.informed && IsIdempotent(r.Method) && from.Kept()
			return response, Try{Upstream: u, Outcome: Answered, Status: response.StatusCode, Again: again}
		}
		failed := p.failed(err, from)
		p.give(false)
		if errors.Is(err, errStale) {
			continue
		}
		return nil, leftOr(r, failed)
	}
}

// failed returns the try that ended with an error.
func (p *passage) failed(err error, from Requester) Try {
	silent := p.b.in.empty() && p.head.Status == 0
	t := Try{Upstream: p.up, Outcome: BrokenOff, Err: err}
	switch {
	case p.b.interrupted.Load(): // by the end of the request's context, or of its body
		t.Outcome = Abandoned
		return t
	case p.hasEnded() && !p.b.wrote:
		t.Outcome, t.Again = Unsent, silent && from.Kept()
		return t
	case isTimeout(err):
		t.Outcome = TimedOut
	}
	t.Again = silent && !p.informed && IsIdempotent(p.request.Method) && from.Kept()
	return t
}

// leftOr returns a failed try, or an abandoned one if the caller has left.
func leftOr(r *http.Request, t Try) Try {
	if err := r.Context().Err(); err != nil {
		return Try{Upstream: t.Upstream, Outcome: Abandoned, Err: fmt.Errorf("the caller has left: %w", err)}
	}
	return t
}

// idleFor returns an idle connection for a request, nil if there is none.
func (u *Upstream) idleFor(hasBody bool) *backend {
	if hasBody {
		return u.takeSilent()
	}
	return u.take(time.Now())
}

// takeSilent returns an idle connection on which nothing has arrived, nil if there is none. It
// is for requests with a body, which cannot be sent again if that is noticed later.
func (u *Upstream) takeSilent() *backend {
	for {
		b := u.take(time.Now())
		if b == nil || b.peek() == nothing {
			return b
		}
		b.close()
	}
}

func (u *Upstream) connectFor(ctx context.Context) (*backend, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*u.timeouts.Connect)
	defer cancel()
	return u.connect(ctx)
}

// passage is one call of the fallback on one connection.
type passage struct {
	up      *Upstream
	b       *backend
	request *http.Request
	head    Response

	informed bool // an interim response was passed on

	forget  func() bool   // stops watching the request's context
	sent    chan struct{} // closed when sendErr is set
	sendErr error
	sentAt  atomic.Int64 // Unix time in nanoseconds; 0: not sent yet
}

// exchange sends the request and receives the head of the response, which has at most that many bytes.
func (p *passage) exchange(hasBody bool, most int, interim func(*Response) error) (*http.Response, error) {
	p.forget = context.AfterFunc(p.request.Context(), p.b.abort)
	if hasBody {
		p.b.unseen = false
		go p.send()
	} else if p.ask(); errors.Is(p.sendErr, errStale) {
		return nil, errStale
	}
	p.b.extend = p.headDue
	keep := func(head []byte) string { return string(head) }
	err := p.b.receive(&p.head, p.request.Method, headBounds{&p.up.timeouts, most}, keep, interim)
	p.b.extend = nil
	switch {
	case err == nil && p.head.Status == http.StatusSwitchingProtocols && !p.hasSent():
		// send still reads the body, and a tunnel would be a second reader.
		return nil, fmt.Errorf("%w: it switched protocols before it received the request", ErrResponse)
	case err == nil:
		return p.response(), nil
	}
	if p.hasEnded() && p.sendErr != nil {
		return nil, p.sendErr
	}
	return nil, err
}

var requests = sync.Pool{New: func() any { return &bytes.Buffer{} }}

// ask writes a request without a body and waits for the first bytes of the response.
func (p *passage) ask() {
	defer close(p.sent)
	out := requests.Get().(*bytes.Buffer)
	defer requests.Put(out)
	out.Reset()
	p.sendErr = p.request.Write(out)
	now := time.Now()
	p.sentAt.Store(now.UnixNano())
	if p.sendErr == nil {
		p.b.readWithin(now, p.up.timeouts.Response)
		p.b.writeWithin(now, p.up.timeouts.Idle)
		p.sendErr = p.b.ask(out.Bytes())
	}
	if p.sendErr != nil && !errors.Is(p.sendErr, errStale) {
		p.sendErr = fmt.Errorf("send the request to the upstream: %w", p.sendErr)
	}
}

var writers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, 4<<10) }}

// headDue returns when the head of the response times out: the upstream's time starts when it has
// the complete request, and again with each read of the head.
func (p *passage) headDue() time.Time {
	if !p.b.in.empty() { // the head has begun
		return p.b.readDue
	}
	from := time.Now()
	if at := p.sentAt.Load(); at > 0 {
		from = time.Unix(0, at)
	}
	if due := from.Add(p.up.timeouts.Response); due.After(p.b.readDue) {
		return due
	}
	return p.b.readDue
}

// send writes a request with a body. If the upstream stops reading, its response may have
// arrived and is still read. If reading the caller's body fails, the upstream would wait for
// the rest, so the connection is aborted.
func (p *passage) send() {
	defer close(p.sent)
	to := &sender{b: p.b, limit: p.up.timeouts.Idle}
	buffered := writers.Get().(*bufio.Writer)
	defer writers.Put(buffered)
	buffered.Reset(to)
	if err := errors.Join(p.request.Write(buffered), buffered.Flush()); err != nil {
		p.sendErr = fmt.Errorf("send the request to the upstream: %w", err)
		if to.err == nil {
			p.b.abort()
		}
	}
	p.sentAt.Store(time.Now().UnixNano())
}

// sender writes to an upstream, with a limit on the time of each write.
type sender struct {
	b     *backend
	limit time.Duration
	err   error
}

func (s *sender) Write(piece []byte) (int, error) {
	s.b.writeWithin(time.Now(), s.limit)
	if s.err = s.b.write(piece); s.err != nil {
		return 0, s.err
	}
	return len(piece), nil
}

// ReadFrom writes a body as it is received, without bufio.Writer's buffering.
func (s *sender) ReadFrom(from io.Reader) (total int64, err error) {
	buf := smallBoxes.Get().(*[headroom + smallBox + tailroom]byte)
	defer smallBoxes.Put(buf)
	for {
		n, err := from.Read(buf[:])
		if n > 0 {
			if _, err := s.Write(buf[:n]); err != nil {
				return total, err
			}
			total += int64(n)
		}
		switch {
		case errors.Is(err, io.EOF):
			return total, nil
		case err != nil:
			return total, err //nolint:wrapcheck // the reader of the body compares the error
		}
	}
}

// response returns the response whose head was received.
func (p *passage) response() *http.Response {
	h := &p.head
	out := &http.Response{
		StatusCode:    h.Status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        make(http.Header, len(h.Fields)),
		ContentLength: -1,
		Request:       p.request,
		Body:          http.NoBody,
	}
	for _, f := range h.Fields {
		name := http.CanonicalHeaderKey(f.Name)
		if name != "Trailer" {
			out.Header[name] = append(out.Header[name], f.Value)
		}
	}
	if h.trailers {
		out.Trailer = http.Header{}
		for _, name := range h.announced() {
			out.Trailer[name] = nil
		}
	}
	switch {
	case h.Status == http.StatusSwitchingProtocols:
		out.Body = newSwitched(p)
		return out
	case h.framing == noBody:
		out.ContentLength = 0
		if h.keepsLength(p.request.Method) {
			out.Header["Content-Length"] = []string{strconv.FormatInt(h.length, 10)}
		}
		p.give(true)
		return out
	case h.framing == lengthKnown:
		out.ContentLength = h.length
		out.Header["Content-Length"] = []string{strconv.FormatInt(h.length, 10)}
	}
	out.Body = &responseBody{passage: p, response: out, left: h.length}
	return out
}

// sendLag is how long give waits for the end of a request that was sent almost completely.
const sendLag = 50 * time.Millisecond

// give ends the passage: it keeps the connection for the next call if it can be reused, or
// closes it. An upstream that has not read the request may not read a TLS alert either, so
// that connection is cut.
func (p *passage) give(whole bool) {
	switch {
	case !p.forget() || !whole || !p.hasSent():
		p.b.cut()
	case p.head.closes:
		p.b.close()
	default:
		p.up.put(p.b, time.Now(), p.head.keepAlive)
	}
}

// hasEnded reports whether the sending has ended, with or without success.
func (p *passage) hasEnded() bool {
	select {
	case <-p.sent:
		return true
	default:
		return false
	}
}

// hasSent reports whether the complete request was sent.
func (p *passage) hasSent() bool {
	select {
	case <-p.sent:
		return p.sendErr == nil
	default:
	}
	late := time.NewTimer(sendLag)
	defer late.Stop()
	select {
	case <-p.sent:
		return p.sendErr == nil
	case <-late.C:
		return false
	}
}
