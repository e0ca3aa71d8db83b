package engine

import (
	"errors"
	"net/http"
	"sync"
	"time"
	"unsafe"
)

// Exchange is one request and what is done with it. Its methods are for the
// goroutine that Serve was called on.
type Exchange struct {
	Request  Request
	BytesIn  int64     // of the request's body, as far as Forward read it
	BytesOut int64     // of the upstream's body, as far as the caller took it
	Began    time.Time // when the head was there

	MaxAnswer int64 // bytes of the answer's body; 0: any number

	conn     *conn
	page     *page
	answer   Response
	headSize int   // bytes of the request's head that the connection still holds
	bodyLeft int64 // of the request, not read from the connection yet

	taken bool      // the head has been dropped: the fallback cannot serve it any more
	now   time.Time // of the last look at the clock: Began, or later

	bodyFailed bool // the caller did not send all of the body
	lastAnswer bool // the connection ends after this one
	broken     bool // the connection is of no use: an answer was begun and not ended
}

// page is memory for one call.
type page struct {
	out            []byte
	fields, answer []Field
	heads          [2][]byte // of the request and of the answer
}

const (
	ofRequest = iota
	ofAnswer
)

// keep copies a head to where it stays until the call is over, and no longer: the
// bytes are another call's then, and so is what a string made of them says.
func (p *page) keep(whose int, head []byte) string {
	p.heads[whose] = append(p.heads[whose][:0], head...)
	return unsafe.String(
		unsafe.SliceData(p.heads[whose]), len(head),
	) //nolint:gosec // nobody writes to it before the call is over
}

var pages = sync.Pool{New: func() any { return &page{out: make([]byte, 0, 4<<10)} }}

// maxPage bounds the memory that a call leaves behind for the next one.
const maxPage = 32 << 10

func (x *Exchange) open() {
	x.page = pages.Get().(*page)
	x.Request.Fields, x.answer.Fields = x.page.fields, x.page.answer
}

func (x *Exchange) close() {
	if x.page == nil {
		return
	}
	clear(x.Request.Fields)
	clear(x.answer.Fields)
	x.page.fields, x.page.answer = x.Request.Fields[:0], x.answer.Fields[:0]
	if spoils {
		for _, head := range x.page.heads {
			spoil(head)
		}
	}
	if cap(x.page.out)+cap(x.page.heads[ofRequest])+cap(x.page.heads[ofAnswer]) <= maxPage {
		pages.Put(x.page)
	}
	*x = Exchange{conn: x.conn, now: x.now}
}

// take makes the request the engine's for good.
func (x *Exchange) take() {
	if x.taken {
		return
	}
	x.taken = true
	x.look() // deciding may have taken its time, which is not the upstream's
	x.conn.in.use(x.headSize)
	x.bodyLeft = x.Request.Length
	x.lastAnswer = x.Request.Close || x.conn.server.closing.Load()
}

// look sets now. It costs half of what time.Now does: only one clock is read.
func (x *Exchange) look() { x.now = x.Began.Add(time.Since(x.Began)) }

// Answer answers in the upstream's stead. It can follow a Forward that failed
// with an error other than ErrCaller and ErrBrokenOff. It returns how many bytes
// of the body the caller took.
func (x *Exchange) Answer(status int, header []Field, body []byte) int64 {
	x.take()
	if x.bodyLeft > 0 && (x.bodyFailed || !x.discardBody()) {
		x.lastAnswer = true
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

// send writes to the caller and tells whether he took it.
func (x *Exchange) send(p []byte) bool {
	c := x.conn
	x.look()
	c.writeWithin(x.now, c.server.Limits.Idle)
	if c.write(p) != nil {
		x.broken = true
	}
	return !x.broken
}

func (x *Exchange) endHead(out []byte) []byte {
	if x.lastAnswer {
		out = append(out, "Connection: close\r\n"...)
	}
	return append(out, '\r', '\n')
}

// drainTime is how long a caller may take to send the rest of a body that
// nobody wants.
const drainTime = 5 * time.Second

// discardBody makes way for the next request, before the answer is written: it
// says whether there can be one.
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

// Errors of Forward that leave nothing to answer.
var (
	ErrCaller    = errors.New("the caller has left")
	ErrBrokenOff = errors.New("the upstream broke off its answer")
)

// ErrAnswerTooLarge is an error of Forward: the answer says of itself that it is
// over MaxAnswer. One that only turns out to be is broken off.
var ErrAnswerTooLarge = errors.New("the answer's body is too large")

// ErrBody is an error of Forward: the caller did not send the whole of his body.
var ErrBody = errors.New("the request's body broke off")
