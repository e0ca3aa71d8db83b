package gateway

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http/httpguts"

	"postern/gateway/engine"
)

var (
	errBodyTooLarge = errors.New("the request's body is over the limit")
	errBodyTooSlow  = errors.New("the request's body comes too slowly")
	errBodyOver     = errors.New("the call is over")
	errCaller       = errors.New("the caller takes no more")
)

// requestBody is the caller's body as the transport reads it: each read has a
// deadline, the whole has a limit, and at its end the trailers are ready.
//
// The transport reads it on a goroutine of its own, which can outlive the call
// when the upstream answers early. stop keeps it from setting a deadline on a
// connection that serves the next request by then.
type requestBody struct {
	w       http.ResponseWriter
	r       *http.Request
	limits  *engine.Limits
	waited  time.Duration // for the caller, in all
	left    int64         // bytes until the limit, -1 without one
	trailer http.Header   // for the upstream; filled when the body has ended
	read    atomic.Int64
	reading sync.Mutex // held by Read

	mu    sync.Mutex
	over  bool // the call is
	ended bool // the body has, and the connection is read by net/http
	err   error
}

func newRequestBody(w http.ResponseWriter, r *http.Request, limits *engine.Limits, limit int64) *requestBody {
	b := &requestBody{w: w, r: r, limits: limits, left: -1}
	if limit > 0 {
		b.left = limit
	}
	if r.ContentLength < 0 {
		// Never nil for a chunked body: net/http sends trailers that were not
		// announced only when there is a map to begin with.
		b.trailer = http.Header{}
		for name := range r.Trailer {
			if mayForwardTrailer(name) {
				b.trailer[name] = nil
			}
		}
	}
	return b
}

func (b *requestBody) Read(p []byte) (int, error) {
	b.reading.Lock()
	defer b.reading.Unlock()
	patience, began := b.limits.BodyWait(b.read.Load(), b.waited), time.Now() // began is not after the deadline is set
	if !b.armed(patience) {
		return 0, errBodyOver
	}
	n, err := b.r.Body.Read(p)
	took := time.Since(began)
	b.waited += took
	if n == 0 && isTimeout(err) && took >= patience {
		err = errBodyTooSlow
	}
	if b.left >= 0 {
		if b.left -= int64(n); b.left < 0 {
			err, n = errBodyTooLarge, 0
		}
	}
	b.read.Add(int64(n))
	switch err {
	case nil:
	case io.EOF:
		// The connection is watched for the caller's leaving from here on, and a
		// deadline left behind would look like that.
		b.armed(0)
		b.mu.Lock()
		b.ended = true
		b.mu.Unlock()
		for name, lines := range b.r.Trailer {
			if mayForwardTrailer(name) && b.trailer != nil {
				b.trailer[name] = lines
			}
		}
	default:
		b.mu.Lock()
		b.err = err
		b.mu.Unlock()
	}
	return n, err
}

// armed sets the deadline of the next read, unless the call is over.
func (b *requestBody) armed(in time.Duration) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.over {
		setReadDeadline(b.w, in)
	}
	return !b.over
}

// Close leaves the body to net/http's server, which closes it after the call.
func (b *requestBody) Close() error { return nil }

// failure is what went wrong with reading the body, nil when nothing did. It ends a
// read that is under way: to net/http a malformed body is a caller who has left, and it
// says so before the read returns.
func (b *requestBody) failure(left bool) error {
	if left {
		b.mu.Lock()
		b.over = true
		setReadDeadline(b.w, -time.Second)
		b.mu.Unlock()
		b.reading.Lock()
		defer b.reading.Unlock()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

// stop ends reading for the upstream, and returns when no read is under way. net/http
// would end one when the handler returns, and take the deadline away: a caller who sends
// nothing more could hold the connection then.
func (b *requestBody) stop(aborted bool) {
	b.mu.Lock()
	b.over = true
	ended := b.ended
	b.mu.Unlock()
	if b.r.ContentLength == 0 || ended {
		return
	}
	if b.reading.TryLock() {
		defer b.reading.Unlock()
		if aborted {
			setReadDeadline(b.w, -time.Second)
		} else {
			setReadDeadline(b.w, drainTimeout) // for what is left of it; the next request sets its own
		}
		return
	}
	setReadDeadline(b.w, -time.Second)
	b.reading.Lock()
	defer b.reading.Unlock()
	endAfterAnswer(b.w)
}

// endAfterAnswer ends the connection when the answer has been sent. To net/http a read
// that was cut short means that the caller is gone, and the next request's context would
// be over before it began. A body over its limit is what net/http ends a connection for.
func endAfterAnswer(w http.ResponseWriter) {
	_, _ = http.MaxBytesReader(w, io.NopCloser(strings.NewReader("over")), 0).Read(make([]byte, 1))
}

// buffers are for bodies on their way to the caller. 32 KiB keep large answers
// at nginx's rate; 8 KiB lose a third.
var buffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// copyBody streams the answer and returns how much of it the caller took. Its
// error wraps errCaller when it was the caller who ended it.
func copyBody(w http.ResponseWriter, from io.Reader, live bool, idle time.Duration) (total int64, err error) {
	buf := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buf)
	for {
		n, err := from.Read(buf[:])
		if n > 0 {
			setWriteDeadline(w, idle)
			written, err := w.Write(buf[:n])
			total += int64(written)
			if errors.Is(err, http.ErrBodyNotAllowed) {
				return total, nil // an upstream that sends a body with 304: not ours to pass on
			}
			if err != nil {
				return total, fmt.Errorf("%w: %w", errCaller, err)
			}
			if live {
				flush(w)
			}
		}
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return total, err
		}
	}
}

func isEventStream(h http.Header) bool {
	lines := h["Content-Type"]
	if len(lines) == 0 || !strings.HasPrefix(lines[0], "text/event-stream") {
		return false
	}
	media, _, _ := mime.ParseMediaType(lines[0])
	return media == "text/event-stream"
}

// announceTrailers declares the answer's trailers to the caller and returns
// their names.
func announceTrailers(to, trailer http.Header) []string {
	if len(trailer) == 0 {
		return nil
	}
	var names []string
	for name := range trailer {
		if mayTrail(name) {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		to["Trailer"] = []string{strings.Join(names, ", ")}
	}
	return names
}

// mayTrail tells the trailers of an answer that are passed on. A cookie among
// them is none to browsers, but may be to a proxy that folds trailers in.
func mayTrail(name string) bool {
	return httpguts.ValidTrailerHeader(name) && !isHopByHop(name) && !strings.EqualFold(name, "Set-Cookie")
}

// sendTrailers hands over the trailers when the body has ended: announced ones
// under their names, others by net/http's prefix for late ones.
func sendTrailers(to, trailer http.Header, announced []string) {
	for _, name := range announced {
		to[name] = trailer[name]
		delete(trailer, name)
	}
	for name, lines := range trailer {
		if mayTrail(name) {
			to[http.TrailerPrefix+name] = lines
		}
	}
}

// mayForwardTrailer keeps out of a request's trailers what an upstream could
// take for ours, or for framing.
func mayForwardTrailer(name string) bool {
	return httpguts.ValidTrailerHeader(name) && !keepsOut(name, true)
}

// atMost is the body up to a limit, 0 for none; one that goes on is an error.
func atMost(from io.Reader, limit int64) io.Reader {
	if limit == 0 {
		return from
	}
	return &limited{from, limit}
}

type limited struct {
	io.Reader
	left int64
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, errAnswerTooLarge
	}
	return n, err
}
