package h2

import (
	"fmt"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
	"sync"
	"time"
)

// heldBody is how much of a body waits for the end of the handler. A response of that size leaves in one write.
const heldBody = 4 << 10

// scratch is memory of a response: its header block, and the body that waits.
type scratch struct {
	block []byte
	body  []byte
}

var scratches = sync.Pool{New: func() any {
	return &scratch{block: make([]byte, 0, 1<<10), body: make([]byte, 0, heldBody)}
}}

// response implements http.ResponseWriter. The handler's goroutine uses it alone, except for the deadlines.
type response struct {
	stream   *stream
	header   http.Header
	*scratch // nil before WriteHeader, and after the end

	status   int   // 0: WriteHeader was not called
	declared int64 // Content-Length; -1: none
	written  int64
	typed    bool // Content-Type or Content-Encoding is set: it is not guessed
	dated    bool
	bodiless bool     // no body is sent: HEAD, 204 and 304
	trailers []string // names, in canonical form

	sent    bool // the header was queued; guarded by conn.mu
	counted bool // the call has ended; guarded by conn.mu
}

var _ interface {
	http.ResponseWriter
	http.Flusher
} = (*response)(nil)

// Header implements http.ResponseWriter.
func (w *response) Header() http.Header {
	if w.header == nil {
		w.header = http.Header{}
	}
	return w.header
}

func allowsBody(status int) bool {
	return status >= 200 && status != http.StatusNoContent && status != http.StatusNotModified
}

// WriteHeader implements http.ResponseWriter. It sends statuses below 200 at once.
func (w *response) WriteHeader(status int) {
	if w.status != 0 {
		return
	}
	if status < 100 || status > 999 {
		panic(fmt.Sprintf("invalid WriteHeader code %v", status))
	}
	if w.scratch == nil {
		w.scratch = scratches.Get().(*scratch)
	}
	if status < 200 {
		w.writeInterim(status)
		return
	}
	w.status, w.bodiless = status, w.stream.isHead() || !allowsBody(status)
	w.block = appendStatus(w.block[:0], status)
	for name, lines := range w.header {
		switch name {
		case "Content-Length":
			w.declare(lines)
			continue
		case "Content-Type", "Content-Encoding":
			w.typed = w.typed || name == "Content-Type" || len(lines) > 0 && lines[0] != ""
		case "Date":
			w.dated = true
		case "Trailer":
			w.announce(lines)
		case "Connection":
			if len(lines) > 0 && lines[0] == "close" {
				w.stream.conn.goAway()
			}
		}
		if isConnectionField(name) {
			continue
		}
		for _, value := range lines {
			w.block = appendField(w.block, name, value)
		}
	}
	if !w.dated {
		w.block = appendField(w.block, "Date", time.Now().UTC().Format(http.TimeFormat))
	}
}

func (w *response) writeInterim(status int) {
	block := appendStatus(w.block[:0], status)
	for name, lines := range w.header {
		if isConnectionField(name) || name == "Content-Length" {
			continue
		}
		for _, value := range lines {
			block = appendField(block, name, value)
		}
	}
	w.block = block
	c := w.stream.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sendInterim(w.stream, block)
}

// declare takes Content-Length. Values that aren't numbers are not sent.
func (w *response) declare(lines []string) {
	if len(lines) == 0 {
		return
	}
	if n, err := strconv.ParseUint(lines[0], 10, 63); err == nil {
		w.declared = int64(n)
		w.block = appendField(w.block, "Content-Length", lines[0])
	}
}

// announce takes the names of trailers.
func (w *response) announce(lines []string) {
	for _, line := range lines {
		for name := range strings.SplitSeq(line, ",") {
			if name = textproto.CanonicalMIMEHeaderKey(textproto.TrimString(name)); name != "" {
				w.trailers = append(w.trailers, name)
			}
		}
	}
}

// Write implements io.Writer.
func (w *response) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if !allowsBody(w.status) {
		return 0, http.ErrBodyNotAllowed
	}
	if w.written += int64(len(p)); w.declared >= 0 && w.written > w.declared {
		return 0, errTooLong
	}
	if w.bodiless {
		return len(p), nil
	}
	if len(w.body)+len(p) <= heldBody {
		w.body = append(w.body, p...)
		return len(p), nil
	}
	if err := w.send(p, false); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush implements http.Flusher.
func (w *response) Flush() { _ = w.FlushError() }

// FlushError sends the data written so far.
func (w *response) FlushError() error {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	return w.send(nil, false)
}

// finish sends the rest of the response.
func (w *response) finish() {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if err := w.send(nil, true); err != nil {
		return
	}
}

// complete adds the fields to the header that depend on the body.
func (w *response) complete(first []byte, last bool) {
	if len(w.body) > 0 {
		first = w.body
	}
	if !w.typed && len(first) > 0 {
		w.block = appendField(w.block, "Content-Type", http.DetectContentType(first))
	}
	if last && w.declared < 0 && !w.bodiless {
		w.block = appendField(w.block, "Content-Length", strconv.Itoa(len(w.body)))
	}
}

// send sends the header, the body that waits, and p.
func (w *response) send(p []byte, last bool) error {
	st := w.stream
	c := st.conn
	var trailers []byte
	if last {
		trailers = w.encodeTrailers()
	}
	if !w.sent {
		w.complete(p, last)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if st.err != nil {
		return st.err
	}
	if last && !w.bodiless && w.declared >= 0 && w.written != w.declared {
		return errMismatch // finish resets the stream
	}
	ends := last && trailers == nil
	if !w.sent {
		if err := c.awaitRoom(st, false); err != nil {
			return err
		}
		w.sent = true
		c.queueHeaders(st.id, w.block, ends && len(w.body) == 0)
	} else if ends && len(w.body) == 0 {
		c.queueData(st.id, nil, true)
	}
	if err := c.sendData(st, w.body, ends && len(p) == 0); err != nil {
		return err
	}
	w.body = w.body[:0]
	if err := c.sendData(st, p, ends); err != nil {
		return err
	}
	if trailers != nil {
		c.queueHeaders(st.id, trailers, true)
	}
	if last {
		c.sent(st)
		c.flushLocked()
	} else {
		c.flushSoon() // by another goroutine: if the caller does not read, the handler still notices its end
	}
	return nil
}

// encodeTrailers returns the trailers, nil for none: those that were announced, and those with http.TrailerPrefix.
func (w *response) encodeTrailers() (block []byte) {
	if w.bodiless {
		return nil
	}
	for _, name := range w.trailers {
		for _, value := range w.header[name] {
			block = appendField(block, name, value)
		}
	}
	for name, lines := range w.header {
		if bare, ok := strings.CutPrefix(name, http.TrailerPrefix); ok {
			for _, value := range lines {
				block = appendField(block, bare, value)
			}
		}
	}
	return block
}

// release gives the memory back. Nothing is written after it.
func (w *response) release() {
	if w.scratch == nil {
		return
	}
	if cap(w.block) <= 16<<10 {
		w.block, w.body = w.block[:0], w.body[:0]
		scratches.Put(w.scratch)
	}
	w.scratch = nil
}

// SetReadDeadline sets the deadline of reads of the body, as for http.ResponseController.
func (w *response) SetReadDeadline(t time.Time) error {
	w.stream.body.setReadDeadline(t)
	return nil
}

// SetWriteDeadline sets the deadline of writes, as for http.ResponseController. One in the past resets the stream.
func (w *response) SetWriteDeadline(t time.Time) error {
	w.stream.setWriteDeadline(t)
	return nil
}

// EnableFullDuplex implements http.ResponseController: a body can be read after the response has begun.
func (w *response) EnableFullDuplex() error { return nil }
