package gateway

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http/httpguts"

	"postern/gateway/engine"
)

var (
	errBodyTooLarge = errors.New("the request's body is larger than the limit")
	errBodyTooSlow  = errors.New("the request's body arrived too slowly")
	errBodyOver     = errors.New("the call is over")
	errCaller       = errors.New("the caller no longer accepts the response")
)

// requestBody is the caller's body as the transport reads it. Each read has a deadline, the whole body has a limit, and
// the trailers are complete when it ends.
//
// The transport reads it in its own goroutine, which outlives the call if the upstream answers early. stop keeps that
// goroutine from setting a deadline on a connection that serves the next request by then.
type requestBody struct {
	w         http.ResponseWriter
	r         *http.Request
	limits    *engine.Limits
	proof     *proof        // whose headers callers cannot send as trailers
	waited    time.Duration // for the caller, in all
	left      int64         // bytes until the limit; -1: no limit
	trailer   http.Header   // for the upstream; filled at the end of the body
	early     []byte        // was read before, and is returned first
	earlyHold *bodyHold     // of early
	isHeld    bool          // while it is read whole
	read      atomic.Int64
	reading   sync.Mutex // held by Read

	mu    sync.Mutex
	over  bool // the call has ended
	ended bool // the body has ended, and net/http reads from the connection
	err   error
}

func newRequestBody(
	w http.ResponseWriter, r *http.Request, limits *engine.Limits, limit int64, proof *proof,
) *requestBody {
	b := &requestBody{w: w, r: r, limits: limits, left: -1, proof: proof}
	if limit > 0 {
		b.left = limit
	}
	if r.ContentLength < 0 {
		// A chunked body needs a map: without one, net/http sends no trailers that were not
		// announced.
		b.trailer = http.Header{}
		for name := range r.Trailer {
			if b.mayForwardTrailer(name) {
				b.trailer[name] = nil
			}
		}
	}
	return b
}

func (b *requestBody) Read(p []byte) (int, error) {
	b.reading.Lock()
	defer b.reading.Unlock()
	if len(b.early) > 0 {
		n := copy(p, b.early)
		if b.early = b.early[n:]; len(b.early) == 0 {
			b.early = nil
			b.earlyHold.release()
		}
		return n, nil
	}
	if b.hasEnded() {
		return 0, io.EOF // a deadline would disturb net/http, which reads from the connection
	}
	patience, began := b.patience(), time.Now() // began is not after the deadline is set
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
		// From here on net/http reads from the connection to see whether the caller leaves.
		// A deadline left behind would look like that.
		b.armed(0)
		b.mu.Lock()
		b.ended = true
		b.mu.Unlock()
		for name, lines := range b.r.Trailer {
			if b.mayForwardTrailer(name) && b.trailer != nil {
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

// The minimum rate of a body that is buffered as a whole, after the grace period. It limits the time for which a caller
// can hold memory to the grace period plus 26 s, the time for the largest body.
const (
	heldRate  = 64 << 10 // bytes per second
	heldGrace = 10 * time.Second
)

// patience returns how long the next read may take.
func (b *requestBody) patience() time.Duration {
	patience := b.limits.BodyWait(b.read.Load(), b.waited)
	if b.isHeld {
		held := engine.Limits{Idle: patience, BodyRate: heldRate, BodyGrace: heldGrace}
		patience = held.BodyWait(b.read.Load(), b.waited)
	}
	return patience
}

// readWhole reads at most limit bytes into memory, for which a caller has less time than for a body that is streamed.
func (b *requestBody) readWhole(limit int64, hold *bodyHold) ([]byte, error) {
	b.isHeld = true
	defer func() { b.isHeld = false }()
	return readWhole(b, limit, hold)
}

func (b *requestBody) hasEnded() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ended
}

// armed sets the deadline of the next read and reports true, unless the call is over.
func (b *requestBody) armed(in time.Duration) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.over {
		setReadDeadline(b.w, in)
	}
	return !b.over
}

// Close does nothing, because net/http's server closes the body after the call.
func (b *requestBody) Close() error { return nil }

// failure returns the error of reading the body, if any. left reports that the request's context is canceled: net/http
// does so for a malformed body too, before the read returns, so failure first ends a read in progress.
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

// stop ends reading for the upstream, and returns when no read is in progress. When the handler returns, net/http would
// end the read and remove its deadline, and a caller that sends nothing more could hold the connection open.
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
			setReadDeadline(b.w, drainTimeout) // for the rest; the next request sets its own
		}
		return
	}
	setReadDeadline(b.w, -time.Second)
	b.reading.Lock()
	defer b.reading.Unlock()
	closeAfterResponse(b.w)
}

// closeAfterResponse has net/http close the connection when the response has been sent, by reading a
// body over its limit. Otherwise the read that was cut short would cancel the context of the
// next request.
func closeAfterResponse(w http.ResponseWriter) {
	_, _ = http.MaxBytesReader(w, io.NopCloser(strings.NewReader("over")), 0).Read(make([]byte, 1))
}

// buffers has the buffers for bodies of responses. With 32 KiB large responses are as fast as
// nginx's; with 8 KiB they are a third slower.
var buffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// copyBody streams the response and returns how many bytes the caller took. The error wraps
// errCaller if writing to the caller failed. With live it flushes after each read.
func copyBody(to *writing, from io.Reader, live bool) (total int64, err error) {
	w := to.w
	buf := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buf)
	for {
		n, err := from.Read(buf[:])
		if n > 0 {
			to.begin(n)
			written, err := w.Write(buf[:n])
			to.end(written)
			total += int64(written)
			if errors.Is(err, http.ErrBodyNotAllowed) {
				return total, nil // the upstream sends a body with a 304
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
	return len(lines) > 0 && engine.IsEventStream(lines[0])
}

// announceTrailers announces the response's trailers to the caller and returns their names.
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

// mayTrail reports whether a trailer of a response is passed on. Browsers ignore Set-Cookie
// there, but a proxy that merges trailers into the header would not.
func mayTrail(name string) bool {
	return httpguts.ValidTrailerHeader(name) && !isHopByHop(name) && !strings.EqualFold(name, "Set-Cookie")
}

// sendTrailers sets the trailers when the body has ended: announced ones under their names,
// others with net/http's prefix for unannounced ones.
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

// mayForwardTrailer reports whether a trailer of a request is passed on: it is neither a field
// that only the gateway may set, nor framing.
func (b *requestBody) mayForwardTrailer(name string) bool {
	return httpguts.ValidTrailerHeader(name) && !keepsOut(name, true) && !b.proof.replaces(name)
}

// atMost returns a body whose Read fails with errResponseTooLarge beyond limit bytes; 0: no limit.
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
		return 0, errResponseTooLarge
	}
	return n, err
}
