package h2

import (
	"context"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/net/http2"
)

// stream is a request and its response. Its memory isn't reused: code of the handler that continues after it may still
// read the body and set deadlines.
type stream struct {
	conn    *conn
	id      uint32
	request *http.Request // nil if the header was over the limit
	cancel  context.CancelFunc

	// Guarded by conn.mu.
	received  bool  // END_STREAM of the request
	left      int64 // bytes of the body that are to come; -1: not known
	receive   int64 // window for the body
	err       error // why the stream is over; nil while it is open
	window    int64 // for the response
	writable  sync.Cond
	waits     bool      // in conn.waiting
	waitsData bool      // and needs windows too
	writeBy   time.Time // deadline of writes; zero: the server's limit
	body      body

	response response
}

// run implements task: it serves the call.
func (st *stream) run() {
	defer st.finish()
	if st.request == nil {
		http.Error(&st.response, http.StatusText(http.StatusRequestHeaderFieldsTooLarge),
			http.StatusRequestHeaderFieldsTooLarge)
	} else {
		st.conn.server.Handler.ServeHTTP(&st.response, st.request)
	}
	st.response.finish()
}

func (st *stream) isHead() bool { return st.request != nil && st.request.Method == http.MethodHead }

// finish ends the call, in which the handler may have panicked.
func (st *stream) finish() {
	fault := recover()
	//nolint:errorlint // as net/http compares it
	if fault != nil && fault != http.ErrAbortHandler && st.conn.server.Recovered != nil {
		st.conn.server.Recovered(fault, debug.Stack())
	}
	st.response.release()
	c := st.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	if st.err == nil { // after a panic
		c.closeStream(st, http2.ErrCodeInternal)
		c.flushSoon()
	}
	c.over(st)
}

// over counts a call that has ended. The caller holds c.mu.
func (c *conn) over(st *stream) {
	if st.response.counted {
		return
	}
	st.response.counted = true
	c.running--
	if c.isIdle() {
		c.idleSince = time.Now()
		c.endIfLast()
	}
}

// closeStream resets a stream that the server doesn't continue. The caller holds c.mu.
func (c *conn) closeStream(st *stream, code http2.ErrCode) {
	c.out = appendReset(c.room(), st.id, code)
	c.resets[c.reset%len(c.resets)] = st.id
	c.reset++
	c.end(st, errOver)
}

// setWriteDeadline sets the deadline of writes. One in the past resets the stream. It does not write itself, because
// its caller may hold a lock that the handler waits for.
func (st *stream) setWriteDeadline(t time.Time) {
	c := st.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	if st.err != nil {
		return
	}
	if st.writeBy = t; !t.IsZero() && !t.After(time.Now()) {
		c.closeStream(st, http2.ErrCodeInternal)
		c.flushSoon()
	}
	st.writable.Signal()
}

// end ends a stream. The caller holds c.mu.
func (c *conn) end(st *stream, err error) {
	if st.err != nil {
		return
	}
	st.err = err
	delete(c.streams, st.id)
	st.body.end(err)
	c.giveBack(st.body.discard(err))
	st.writable.Signal()
	if st.cancel != nil {
		st.cancel()
	}
	if c.isIdle() {
		c.idleSince = time.Now()
		c.endIfLast()
	}
}
