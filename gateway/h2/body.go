package h2

import (
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"golang.org/x/net/http2"
)

// body is the body of a request as the handler reads it. Its fields are guarded by conn.mu.
type body struct {
	stream    *stream
	readable  sync.Cond
	pieces    []*piece // that were received and not read; the last may have room, no other is empty
	err       error
	trailer   http.Header
	readBy    time.Time // deadline of reads; zero: none
	continues bool      // the caller waits for 100 Continue
	credit    int       // bytes that were read, for which the window of the stream is not open again yet
}

// piece is a part of a body. Bodies that are read as fast as they arrive hold none.
type piece struct {
	data [8 << 10]byte
	r, w int // data[r:w] was not read yet
}

var pieces = sync.Pool{New: func() any { return &piece{} }}

// add adds bytes that were received.
func (b *body) add(p []byte) {
	for len(p) > 0 {
		n := len(b.pieces)
		if n == 0 || b.pieces[n-1].w == len(b.pieces[n-1].data) {
			b.pieces = append(b.pieces, pieces.Get().(*piece))
			n++
		}
		last := b.pieces[n-1]
		n = copy(last.data[last.w:], p)
		last.w += n
		p = p[n:]
	}
	b.readable.Signal()
}

// take reads the bytes that were received so far.
func (b *body) take(p []byte) (n int) {
	for n < len(p) && len(b.pieces) > 0 {
		first := b.pieces[0]
		k := copy(p[n:], first.data[first.r:first.w])
		n += k
		if first.r += k; first.r == first.w {
			b.drop()
		}
	}
	return n
}

// drop gives the memory of the first piece back.
func (b *body) drop() {
	first := b.pieces[0]
	first.r, first.w = 0, 0
	pieces.Put(first)
	k := copy(b.pieces, b.pieces[1:])
	b.pieces[k] = nil
	b.pieces = b.pieces[:k]
}

func (b *body) end(err error) {
	if b.err == nil {
		b.err = err
		if b.readable.L != nil {
			b.readable.Broadcast()
		}
	}
}

// discard ends the body with an error if a part of it wasn't read. It returns the length of that part.
func (b *body) discard(err error) (n int) {
	for len(b.pieces) > 0 {
		n += b.pieces[0].w - b.pieces[0].r
		b.drop()
		b.err = err // io.EOF would make the part that was read look complete
	}
	return n
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	st := b.stream
	c := st.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(p) == 0 {
		return 0, nil
	}
	var timer *time.Timer
	defer func() {
		if timer != nil {
			timer.Stop()
		}
	}()
	for len(b.pieces) == 0 {
		switch {
		case errors.Is(b.err, io.EOF):
			for name, lines := range b.trailer {
				st.request.Trailer[name] = lines
			}
			return 0, io.EOF
		case b.err != nil:
			return 0, b.err
		case b.continues && !st.response.sent:
			b.continues = false
			c.sendInterim(st, appendStatus(nil, http.StatusContinue))
			continue
		}
		if !b.readBy.IsZero() {
			left := time.Until(b.readBy)
			if left <= 0 {
				return 0, os.ErrDeadlineExceeded
			}
			if timer != nil {
				timer.Stop()
			}
			timer = time.AfterFunc(left, func() {
				c.mu.Lock()
				b.readable.Broadcast()
				c.mu.Unlock()
			})
		}
		b.readable.Wait()
	}
	n := b.take(p)
	b.openWindow(n)
	return n, nil
}

// openWindow lets the caller send n more bytes. It tells the caller when that is a good part of the window.
func (b *body) openWindow(n int) {
	st, c := b.stream, b.stream.conn
	if b.credit += n; b.credit >= receiveWindow/8 && !st.received && st.err == nil {
		st.receive += int64(b.credit)
		c.out = appendWindowUpdate(c.room(), st.id, b.credit)
		b.credit = 0
	}
	c.giveBack(n)
	c.flushSoon()
}

// Close implements io.Closer. Unread bytes are dropped when the call is over.
func (b *body) Close() error {
	b.stream.conn.mu.Lock()
	defer b.stream.conn.mu.Unlock()
	b.end(errOver)
	return nil
}

// setReadDeadline sets the deadline of reads.
func (b *body) setReadDeadline(t time.Time) {
	c := b.stream.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	b.readBy = t
	b.readable.Broadcast()
}

// readData receives DATA (RFC 9113 section 6.1) piece by piece, so that a slow body is passed on.
func (c *conn) readData(f frame) error {
	st, err := c.admitData(f)
	if err != nil {
		return err
	}
	left, padding := f.length, 0
	if f.flags.Has(http2.FlagDataPadded) {
		if f.length == 0 {
			return connError{http2.ErrCodeFrameSize, "DATA without the length of its padding"}
		}
		if err := c.wait(); err != nil {
			return err
		}
		padding = int(c.in.take(1)[0])
		if left--; padding > left {
			return connError{http2.ErrCodeProtocol, "DATA of padding alone"}
		}
		left -= padding
	}
	if st, err = c.countData(f, st, left); err != nil {
		return err
	}
	if left > len(c.in.small) {
		c.in.enlarge()
	}
	for left > 0 {
		if err := c.wait(); err != nil {
			return err
		}
		piece := c.in.take(min(left, c.in.held()))
		left -= len(piece)
		c.deliver(st, piece)
	}
	for padding > 0 {
		if err := c.wait(); err != nil {
			return err
		}
		padding -= len(c.in.take(min(padding, c.in.held())))
	}
	if st != nil && f.flags.Has(http2.FlagDataEndStream) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if st.err == nil && st.left > 0 {
			return c.resetStream(f.stream, http2.ErrCodeProtocol)
		}
		c.receivedAll(st)
	}
	return nil
}

// wait returns when at least one byte is held.
func (c *conn) wait() error {
	for c.in.held() == 0 {
		c.in.makeRoom(1)
		if err := c.fill(); err != nil {
			return err
		}
	}
	return nil
}

// admitData checks a DATA frame against the windows and the state of its stream. It returns nil as the stream if the
// frame is to be dropped.
func (c *conn) admitData(f frame) (*stream, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.isIdleStream(f.stream):
		return nil, connError{http2.ErrCodeProtocol, "DATA of an idle stream"}
	case int64(f.length) > c.receive:
		return nil, connError{http2.ErrCodeFlowControl, "DATA beyond the window"}
	}
	c.receive -= int64(f.length)
	st := c.streams[f.stream]
	switch {
	case st == nil && (c.wasReset(f.stream) || f.stream > c.lastID):
		if f.length >= usefulBytes { // it was sent before the caller knew
			return nil, nil
		}
		return nil, c.wasted(1)
	case st == nil || st.received:
		return nil, c.resetStream(f.stream, http2.ErrCodeStreamClosed)
	}
	if st.receive -= int64(f.length); st.receive < 0 {
		return nil, c.resetStream(f.stream, http2.ErrCodeFlowControl)
	}
	return st, nil
}

// countData counts the data in a DATA frame, and reopens the windows for the rest of the frame. It returns nil if the
// stream is over.
func (c *conn) countData(f frame, st *stream, length int) (*stream, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if st == nil || st.err != nil {
		c.giveBack(f.length - length)
		return nil, nil
	}
	if st.left >= 0 && int64(length) > st.left {
		c.giveBack(f.length - length)
		return nil, c.resetStream(f.stream, http2.ErrCodeProtocol)
	}
	if st.left > 0 {
		st.left -= int64(length)
	}
	if f.length > length {
		st.body.credit += f.length - length
		c.giveBack(f.length - length)
	}
	switch {
	case length >= usefulBytes:
		c.waste.earn(usefulFrame)
	case length == 0 && !f.flags.Has(http2.FlagDataEndStream):
		return st, c.wasted(1)
	}
	return st, nil
}

// deliver hands bytes to the body of a stream; nil: they are dropped.
func (c *conn) deliver(st *stream, p []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if st == nil || st.body.err != nil {
		c.giveBack(len(p))
		return
	}
	st.body.add(p)
}

// giveBack reopens the connection's window for n bytes. It notifies the caller once that is a good part of the window.
// The caller holds c.mu.
func (c *conn) giveBack(n int) {
	if c.returned += n; c.returned >= receiveWindow/8 {
		c.receive += int64(c.returned)
		c.out = appendWindowUpdate(c.room(), 0, c.returned)
		c.returned = 0
	}
}

// receivedAll notes the end of a request. The caller holds c.mu.
func (c *conn) receivedAll(st *stream) {
	st.received = true
	st.body.end(io.EOF)
}
