package engine

import (
	"errors"
	"net/http"
	"sync"
	"time"
	"unsafe"
)

// Tap sees the body of a response while it is relayed.
type Tap interface {
	Data(part []byte) // called with each part before it is sent
	// End is called before the last bytes of a complete response are sent, which are its head if it has no body.
	End()
}

// Exchange is one request and its response. Its methods are for the goroutine of Serve.
type Exchange struct {
	Request  Request
	BytesIn  int64     // of the request's body that Forward has read
	BytesOut int64     // of the upstream's body that the caller took
	Began    time.Time // when the head had been read

	FirstByte time.Duration // from Began until the gateway began to send the upstream's response; 0: it didn't

	MaxResponse int64 // limit on the response's body in bytes; 0: none

	Tap Tap // of the response that Forward relays; nil: none

	conn     *conn
	page     *page
	response Response
	headSize int   // bytes of the request's head, which the connection holds until take
	bodyLeft int64 // bytes of the request's body that are not read yet
	headEnd  int   // of the request's head in page.out, which the bytes of the body follow that were read first

	pace  Pace      // of the caller
	taken bool      // the head was dropped: the fallback cannot serve the request any more
	now   time.Time // when the clock was read last: Began, or later
	heard time.Time // when the upstream's bytes that were sent last had been read

	silence time.Duration // allowed between two reads of the response

	tried        bool // the request was begun to be sent
	keeping      bool // page.body gets the bytes that are read of the request's body
	informed     bool // an interim response was passed on
	relaying     bool // the upstream's response is being sent
	bodyFailed   bool // the caller did not send all of the body
	lastResponse bool // the connection is closed after this response
	broken       bool // the connection is unusable: a response was begun and not completed
}

// page is the memory of one call.
type page struct {
	out              []byte
	body             []byte // of the request, to be sent again
	fields, response []Field
	heads            [2][]byte // of the request and of the response
}

const (
	ofRequest = iota
	ofAnswer
)

// keep copies a head and returns it as a string that is valid until the call is over: then the
// bytes are reused, and strings that share them change.
func (p *page) keep(whose int, head []byte) string {
	p.heads[whose] = append(p.heads[whose][:0], head...)
	kept := p.heads[whose]
	return unsafe.String(unsafe.SliceData(kept), len(kept)) //nolint:gosec // not written to before the call is over
}

var pages = sync.Pool{New: func() any { return &page{out: make([]byte, 0, 4<<10)} }}

// maxPage bounds the memory that is reused: larger pages are left to the garbage collector.
const maxPage = 32 << 10

func (x *Exchange) open() {
	x.page = pages.Get().(*page)
	x.Request.Fields, x.response.Fields = x.page.fields, x.page.response
}

func (x *Exchange) close() {
	if x.page == nil {
		return
	}
	clear(x.Request.Fields)
	clear(x.response.Fields)
	x.page.fields, x.page.response = x.Request.Fields[:0], x.response.Fields[:0]
	x.page.body = x.page.body[:0]
	if spoils {
		for _, head := range x.page.heads {
			spoil(head)
		}
	}
	if cap(x.page.out)+cap(x.page.body)+cap(x.page.heads[ofRequest])+cap(x.page.heads[ofAnswer]) <= maxPage {
		pages.Put(x.page)
	}
	*x = Exchange{conn: x.conn, now: x.now}
}

// take drops the head of the request. From then on the request cannot be handed over.
func (x *Exchange) take() {
	if x.taken {
		return
	}
	x.taken = true
	x.readClock() // the time that deciding took must not count as the upstream's
	x.conn.in.use(x.headSize)
	x.bodyLeft = x.Request.Length
	x.lastResponse = x.Request.Close || x.conn.server.closing.Load()
}

// readClock sets now. It reads only the monotonic clock, which costs half of time.Now.
func (x *Exchange) readClock() { x.now = x.Began.Add(time.Since(x.Began)) }

// Answer sends a response instead of the upstream's. It may be called after a Forward that failed with an error other
// than ErrCaller and ErrBrokenOff. It returns how many bytes of the body were sent.
func (x *Exchange) Answer(status int, header []Field, body []byte) int64 {
	x.take()
	if x.bodyLeft > 0 && (x.bodyFailed || !x.discardBody()) {
		x.lastResponse = true
	}
	out := appendStatus(x.page.out[:0], status)
	for _, f := range header {
		out = AppendField(out, f.Name, f.Value)
	}
	out = appendDate(out)
	out = appendLength(out, int64(len(body)))
	out = x.endHead(out)
	if x.Request.Method == http.MethodHead {
		body = nil
	}
	out = append(out, body...)
	x.page.out = out
	if !x.send(out) {
		return 0
	}
	return int64(len(body))
}

// send writes to the caller and reports whether that succeeded.
func (x *Exchange) send(p []byte) bool {
	c := x.conn
	x.readClock()
	x.heard = x.now
	if x.relaying && x.FirstByte == 0 {
		x.FirstByte = x.now.Sub(x.Began)
	}
	limit, took := c.server.Limits.Idle, time.Duration(0)
	c.writeWithin(x.now, x.pace.Wait(limit, len(p)))
	if c.write(p) != nil {
		x.broken = true
	}
	if c.waited {
		began := x.now
		x.readClock()
		took = x.now.Sub(began)
	}
	x.pace.Wrote(limit, len(p), took)
	return !x.broken
}

func (x *Exchange) endHead(out []byte) []byte {
	if x.lastResponse {
		out = append(out, "Connection: close\r\n"...)
	}
	return append(out, '\r', '\n')
}

// drainTime is how long a caller may take to send the rest of an unwanted body.
const drainTime = 5 * time.Second

// discardBody reads the rest of the body and reports whether it arrived, so that another
// request can follow. It is called before the response is written.
func (x *Exchange) discardBody() bool {
	c := x.conn
	c.readUntil(time.Now().Add(drainTime))
	for {
		n := min(x.bodyLeft, int64(len(c.in.held())))
		c.in.use(int(n))
		if x.bodyLeft -= n; x.bodyLeft == 0 {
			return true
		}
		if c.fill() != nil {
			return false
		}
	}
}

// Errors of Forward after which the call can't be answered any more.
var (
	ErrCaller    = errors.New("the caller has left")
	ErrBrokenOff = errors.New("the upstream interrupted its response")
)

// ErrResponseTooLarge is an error of Forward: the response's Content-Length is over MaxResponse. A response without a
// Content-Length that exceeds it is cut off.
var ErrResponseTooLarge = errors.New("the response's body is too large")

// ErrBody is an error of Forward: the caller didn't send the whole body.
var ErrBody = errors.New("the request's body was interrupted")
