package h2

import (
	"os"
	"runtime"
	"sync"
	"time"

	"golang.org/x/net/http2"

	"postern/gateway/engine"
)

const (
	// maxPending is how much may wait to be written before responses wait for their turn.
	maxPending = 64 << 10
	// maxControl is how much may wait in all, with answers to frames of the caller.
	maxControl = 2 * maxPending
	// flushRounds is how many writes a call makes for others before a worker takes over.
	flushRounds = 2
)

// output has the bytes that a connection has to write. A goroutine that adds to it while flushing is not set writes it,
// and what others add in the meantime: frames of calls that end together leave in one TLS record. It is guarded by
// conn.mu.
type output struct {
	out      []byte // frames that wait
	flushing bool   // a goroutine writes, or is about to
	writeBy  time.Time
	pace     engine.Pace // of the caller, for all responses

	window  int64     // for all responses
	initial int64     // window of a new stream
	waiting []*stream // for the window or for room in out, in the order in which they came
	indexed bool      // the caller was told that the table of header compression is not used
}

// Sizes of the memory of output: for frames of small responses, and for all that may wait before large ones wait.
const (
	smallOutput = 16 << 10
	largeOutput = maxPending + maxFrame + 1<<10
)

var (
	smallOutputs = sync.Pool{New: func() any { return new([smallOutput]byte) }}
	largeOutputs = sync.Pool{New: func() any { return new([largeOutput]byte) }}
)

// room returns out to append to. The caller holds c.mu.
func (c *conn) room() []byte {
	if c.out == nil {
		return smallOutputs.Get().(*[smallOutput]byte)[:0]
	}
	return c.out
}

// roomFor is room for n bytes.
func (c *conn) roomFor(n int) []byte {
	out := c.room()
	if len(out)+n <= cap(out) || len(out)+n > largeOutput {
		return out
	}
	large := largeOutputs.Get().(*[largeOutput]byte)[:]
	held := copy(large, out)
	recycle(out)
	return large[:held]
}

// recycle keeps memory of output that was written.
func recycle(p []byte) {
	switch cap(p) {
	case smallOutput:
		smallOutputs.Put((*[smallOutput]byte)(p[:smallOutput]))
	case largeOutput:
		largeOutputs.Put((*[largeOutput]byte)(p[:largeOutput]))
	}
}

// flush is the task of writing a connection's pending data. flushing is set.
type flush conn

func (f *flush) run() {
	c := (*conn)(f)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.write(1 << 20)
}

// flushLocked writes what there is to write, unless flushing is set. It lets calls go first whose upstreams have
// answered in the meantime, so that fewer writes carry more. The caller holds c.mu, which is unlocked in the meantime.
func (c *conn) flushLocked() {
	if c.flushing || len(c.out) == 0 {
		return
	}
	c.flushing = true
	c.mu.Unlock()
	runtime.Gosched()
	c.mu.Lock()
	c.write(flushRounds)
}

// flushSoon has a worker write what there is to write. The caller holds c.mu.
func (c *conn) flushSoon() {
	if c.flushing || len(c.out) == 0 {
		return
	}
	c.flushing = true
	c.server.workers.do((*flush)(c))
}

// write writes until nothing is left, or leaves the rest to a worker after some rounds.
func (c *conn) write(rounds int) {
	for ; len(c.out) > 0 && c.err == nil; rounds-- {
		if rounds == 0 {
			c.server.workers.do((*flush)(c))
			return
		}
		out, n, began := c.out, len(c.out), time.Now()
		c.out = nil
		c.setWriteDeadline(began, n)
		c.mu.Unlock()
		_, err := c.nc.Write(out)
		recycle(out)
		took := time.Since(began)
		c.mu.Lock()
		c.pace.Wrote(c.server.Limits.Write, n, took)
		if err != nil {
			c.failLocked(err)
		}
		c.wakeNext()
	}
	c.flushing = false
}

// setWriteDeadline gives the next write, of n bytes, at least 7/8 of its time: setting a deadline for each would cost
// more.
func (c *conn) setWriteDeadline(now time.Time, n int) {
	limit := c.pace.Wait(c.server.Limits.Write, n)
	if left := c.writeBy.Sub(now); left < limit-limit/8 || left > limit {
		c.writeBy = now.Add(limit)
		_ = c.nc.SetWriteDeadline(c.writeBy)
	}
}

// wakeNext wakes the response that waits longest of those that can write. The caller holds c.mu.
func (c *conn) wakeNext() {
	for _, st := range c.waiting {
		if c.canWrite(st, st.waitsData) {
			st.writable.Signal()
			return
		}
	}
}

// queueHeaders queues a header block. The caller holds c.mu.
func (c *conn) queueHeaders(id uint32, block []byte, last bool) {
	out := c.room()
	kind, flags := http2.FrameHeaders, http2.Flags(0)
	if last {
		flags = http2.FlagHeadersEndStream
	}
	size := len(block)
	if !c.indexed {
		size++
	}
	for first := true; first || len(block) > 0; first = false {
		n := min(size, maxFrame)
		if size -= n; size == 0 {
			flags |= http2.FlagHeadersEndHeaders
		}
		out = appendFrame(out, n, kind, flags, id)
		if !c.indexed { // the table has no size: RFC 7541 section 6.3
			c.indexed = true
			out = append(out, 0x20)
			n--
		}
		out = append(out, block[:n]...)
		block = block[n:]
		kind, flags = http2.FrameContinuation, 0
	}
	c.out = out
}

// sendInterim sends a header block that does not begin the response. The caller holds c.mu.
func (c *conn) sendInterim(st *stream, block []byte) {
	if st.err == nil && c.awaitRoom(st, false) == nil {
		c.queueHeaders(st.id, block, false)
		c.flushSoon()
	}
}

// canWrite reports whether there is room to write for the stream, and, for data, window. The caller holds c.mu.
func (c *conn) canWrite(st *stream, data bool) bool {
	return len(c.out) < maxPending && (!data || st.window > 0 && c.window > 0)
}

// awaitRoom returns when canWrite. If the caller of the stream lets it wait too long, the stream is reset. The caller
// holds c.mu, which is unlocked in the meantime.
func (c *conn) awaitRoom(st *stream, data bool) error {
	if st.err == nil && c.canWrite(st, data) {
		return nil
	}
	began := time.Now()
	wake := time.AfterFunc(c.server.Limits.Write, func() {
		c.mu.Lock()
		st.writable.Signal()
		c.mu.Unlock()
	})
	defer wake.Stop()
	defer c.leaveQueue(st)
	for {
		if st.err != nil {
			return st.err
		}
		if c.canWrite(st, data) {
			return nil
		}
		c.flushSoon() // of what takes the room
		due := began.Add(c.server.Limits.Write)
		if !st.writeBy.IsZero() && st.writeBy.Before(due) {
			due = st.writeBy
		}
		left := time.Until(due)
		if left <= 0 {
			c.closeStream(st, http2.ErrCodeInternal)
			c.flushSoon()
			return os.ErrDeadlineExceeded
		}
		wake.Reset(left)
		if data && st.window <= 0 {
			c.leaveQueue(st) // it does not wait for the connection
		} else if !st.waits {
			st.waits, st.waitsData = true, data
			c.waiting = append(c.waiting, st)
		}
		st.writable.Wait()
	}
}

// leaveQueue removes a stream from those that wait for the connection, and lets the next one try.
func (c *conn) leaveQueue(st *stream) {
	if !st.waits {
		return
	}
	st.waits = false
	for i, one := range c.waiting {
		if one == st {
			copy(c.waiting[i:], c.waiting[i+1:])
			c.waiting[len(c.waiting)-1] = nil
			c.waiting = c.waiting[:len(c.waiting)-1]
			break
		}
	}
	c.wakeNext()
}

// sendData sends a part of a body, with END_STREAM if it is the last. The caller holds c.mu.
func (c *conn) sendData(st *stream, p []byte, last bool) error {
	for len(p) > 0 {
		if err := c.awaitRoom(st, true); err != nil {
			return err
		}
		n := int(min(int64(min(len(p), maxFrame)), st.window, c.window))
		st.window -= int64(n)
		c.window -= int64(n)
		if n >= usefulBytes {
			c.waste.earn(usefulFrame)
		}
		c.queueData(st.id, p[:n], last && n == len(p))
		p = p[n:]
		c.wakeNext()
	}
	return nil
}

// queueData queues a DATA frame. The caller holds c.mu.
func (c *conn) queueData(id uint32, p []byte, last bool) {
	flags := http2.Flags(0)
	if last {
		flags = http2.FlagDataEndStream
	}
	c.out = append(appendFrame(c.roomFor(frameHeader+len(p)), len(p), http2.FrameData, flags, id), p...)
}

// sent notes that the response has ended, and with it the call. The caller holds c.mu.
func (c *conn) sent(st *stream) {
	if !st.received { // what else comes of the request is dropped (RFC 9113 section 8.1)
		c.closeStream(st, http2.ErrCodeNo)
	}
	c.broken.earn(1)
	c.end(st, errOver)
	c.over(st)
}
