package gateway

import (
	"net/http"
	"sync/atomic"
	"time"

	"postern/gateway/engine"
)

// writing is the deadline for the writes of one response. Setting it costs as much as a small
// write, so it is set for one write in a while, and if the call's watch will see to it, not
// before that looks.
type writing struct {
	w     http.ResponseWriter
	idle  time.Duration // for each write
	began time.Time     // the write that the deadline was set for last
	pace  *engine.Pace  // of the caller; nil on HTTP/2, whose connections have one
	at    time.Time     // when the write that begin allowed began

	left  bool         // the first deadline is left to the watch
	since atomic.Int64 // when the latest write began, in ns since 1970; 0: none has
	taken atomic.Bool  // the watch has looked
}

// leaveToWatch lets begin set no deadline before arm is called, which will be within recheckEvery.
func (d *writing) leaveToWatch() { d.left = d.idle >= 2*recheckEvery }

// begin gives the write of n bytes that follows its time, at least 15/16 of it.
func (d *writing) begin(n int) {
	now := time.Now()
	d.at = now
	if d.pace != nil && d.pace.Lags() {
		d.began = time.Time{}
		setWriteDeadline(d.w, d.pace.Wait(d.idle, n))
		return
	}
	if !d.began.IsZero() && now.Sub(d.began) < d.idle/16 {
		return
	}
	d.began = now
	d.since.Store(now.UnixNano())
	if !d.left || d.taken.Load() {
		setWriteDeadline(d.w, d.idle)
	}
}

// end notes that the write that begin allowed is over.
func (d *writing) end(n int) {
	if d.pace != nil {
		d.pace.Wrote(d.idle, n, time.Since(d.at))
	}
}

// arm sets the deadline of a write that has begun. The watch calls it, on its own goroutine.
func (d *writing) arm() {
	if !d.left || d.taken.Swap(true) {
		return
	}
	if since := d.since.Load(); since != 0 {
		setWriteDeadline(d.w, time.Until(time.Unix(0, since).Add(d.idle)))
	}
}
