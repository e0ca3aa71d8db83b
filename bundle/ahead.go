package bundle

import (
	"io"
	"sync/atomic"
)

// Parts are handed over in blocks of aheadBlock bytes, with at most aheadBlocks in memory.
const (
	aheadBlock  = 128 << 10
	aheadBlocks = 4
)

// ahead writes its input to w, in its own goroutine once there is a whole block: a part is generated while the bytes
// before it are compressed.
type ahead struct {
	w      io.Writer
	block  []byte
	full   chan []byte // to the goroutine; nil before that starts
	free   chan []byte // from the goroutine
	ended  chan struct{}
	failed atomic.Pointer[error] // of w
}

// Write implements io.Writer. An error of w is returned by a later call.
func (a *ahead) Write(p []byte) (int, error) {
	written := 0
	for len(p) > 0 {
		if failed := a.failed.Load(); failed != nil {
			return written, *failed
		}
		if a.block == nil {
			a.block = make([]byte, 0, aheadBlock)
		}
		n := min(len(p), cap(a.block)-len(a.block))
		a.block = append(a.block, p[:n]...)
		p, written = p[n:], written+n
		if len(a.block) == cap(a.block) {
			a.handOver()
		}
	}
	return written, nil
}

// handOver passes the full block to the goroutine and takes an empty one.
func (a *ahead) handOver() {
	if a.full == nil {
		a.full, a.free, a.ended = make(chan []byte, aheadBlocks), make(chan []byte, aheadBlocks), make(chan struct{})
		for range aheadBlocks - 1 {
			a.free <- nil
		}
		go a.pass()
	}
	a.full <- a.block
	if a.block = <-a.free; a.block != nil {
		a.block = a.block[:0]
	}
}

// pass writes the blocks to w until there are no more, and none after an error.
func (a *ahead) pass() {
	defer close(a.ended)
	for block := range a.full {
		if a.failed.Load() == nil {
			if _, err := a.w.Write(block); err != nil {
				a.failed.Store(&err)
			}
		}
		a.free <- block
	}
}

// Close writes the rest, waits for the goroutine and returns the first error of w. It does
// not close w.
func (a *ahead) Close() error {
	if a.full != nil {
		close(a.full)
		<-a.ended
	}
	if failed := a.failed.Load(); failed != nil {
		return *failed
	}
	_, err := a.w.Write(a.block)
	return err
}
