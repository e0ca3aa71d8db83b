package h2upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"postern/gateway/engine"
)

// RoundTrip implements engine.Multiplexed. A call of gRPC is a stream from its beginning: only silence in both
// directions ends it, after Timeouts.StreamIdle. It can't use HTTP/1.1.
//
// The body of the response must be closed. If the upstream answers early, the body of the request may still be read
// after the response has ended, until a read fails.
func (u *Upstream) RoundTrip(r *http.Request) (*http.Response, engine.Outcome, error) {
	streams := IsGRPC(r.Header.Get("Content-Type"))
	for first := true; ; first = false {
		c, reused, err := u.take(r.Context())
		switch {
		case !streams && u.orHTTP1 && errors.Is(err, engine.ErrHTTP1):
			return nil, engine.NotTried, nil
		case err != nil:
			return nil, engine.Unsent, err
		}
		x := &call{upstream: u, conn: c, streams: streams}
		response, err := x.send(r)
		c.share()
		if err == nil {
			return response, engine.Answered, nil
		}
		// A connection that ended while it was idle says nothing about the upstream. An upstream that refuses streams
		// does that on the next connection too, so that is left to the environment's retries.
		if !first || !reused || !wasUnsent(err) || x.bodyRead.Load() || r.Context().Err() != nil {
			return nil, x.outcome(err), err
		}
	}
}

// outcome returns how a call without a response has ended.
func (x *call) outcome(err error) engine.Outcome {
	switch {
	case x.bodyFailed.Load():
		return engine.Abandoned
	case wasUnsent(err):
		return engine.Unsent
	case errors.Is(err, errSilent):
		return engine.TimedOut
	}
	return engine.BrokenOff
}

// call is one call on one connection.
type call struct {
	upstream *Upstream
	conn     *conn
	streams  bool
	cancel   context.CancelCauseFunc
	ended    atomic.Bool

	bodyRead, bodyFailed atomic.Bool // the request's body was begun, and could not be read to its end

	// The watch over the upstream's silence.
	timer    *time.Timer
	mu       sync.Mutex
	limit    time.Duration // that may pass now; 0: the caller is waited for
	since    time.Time     // when something happened last
	due      time.Time     // when check runs; zero: it isn't going to
	answered bool          // the response has begun
}

// errSilent ends a call whose upstream is silent for too long. It is a timeout, as of net.Error.
var errSilent = fmt.Errorf("the upstream was silent for too long: %w", os.ErrDeadlineExceeded)

func (x *call) send(r *http.Request) (*http.Response, error) {
	timeouts := &x.upstream.timeouts
	ctx, cancel := context.WithCancelCause(r.Context())
	x.cancel = cancel
	first := timeouts.Response
	if x.streams {
		first = timeouts.StreamIdle
	}
	x.limit, x.since = first, time.Now()
	x.timer = time.AfterFunc(time.Hour, x.check)
	x.mu.Lock()
	x.arm(first)
	x.mu.Unlock()
	out := r.WithContext(ctx)
	if r.Body != nil && r.Body != http.NoBody {
		out.Body = &requestBody{ReadCloser: r.Body, call: x}
	}
	response, err := x.conn.RoundTrip(out)
	if err != nil {
		x.end()
		if cause := context.Cause(ctx); errors.Is(cause, errSilent) {
			return nil, cause
		}
		return nil, fmt.Errorf("send the request to the upstream: %w", err)
	}
	idle := timeouts.Idle
	if x.streams || engine.IsEventStream(response.Header.Get("Content-Type")) {
		idle = timeouts.StreamIdle
	}
	x.mu.Lock()
	x.answered = true
	x.mu.Unlock()
	x.pause(true)
	response.Body = &responseBody{ReadCloser: response.Body, call: x, idle: idle, ctx: ctx}
	return response, nil
}

// await begins to wait for the upstream, which may be silent for that long. The request's side stops waiting when the
// response has begun.
func (x *call) await(limit time.Duration, response bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.streams:
		x.since = time.Now()
	case x.answered == response:
		x.limit, x.since = limit, time.Now()
		x.arm(limit)
	}
}

// arm has check run after a time, or earlier. The caller holds mu.
func (x *call) arm(in time.Duration) {
	if at := time.Now().Add(in); in > 0 && (x.due.IsZero() || at.Before(x.due)) {
		x.due = at
		x.timer.Reset(in)
	}
}

// pause waits for the caller, unless the call is a stream.
func (x *call) pause(response bool) { x.await(0, response) }

// check ends the call if the upstream has been silent for too long, and looks again later if it hasn't.
func (x *call) check() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ended.Load() {
		return
	}
	x.due = time.Time{}
	if x.limit == 0 {
		return
	}
	if left := x.limit - time.Since(x.since); left > 0 {
		x.arm(left)
	} else {
		x.cancel(errSilent)
	}
}

// end ends the call. Nothing of its response is read after that.
func (x *call) end() {
	if x.ended.Swap(true) {
		return
	}
	x.timer.Stop()
	x.cancel(nil)
	x.upstream.ended(x.conn)
}

// requestBody is the body of a request as the connection reads it.
type requestBody struct {
	io.ReadCloser
	call *call
}

func (b *requestBody) Read(p []byte) (int, error) {
	x := b.call
	x.bodyRead.Store(true)
	x.pause(false)
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		x.bodyFailed.Store(!errors.Is(err, io.EOF))
		x.await(x.upstream.timeouts.Response, false)
	} else {
		x.await(x.upstream.timeouts.Idle, false) // for the upstream to take it
	}
	return n, err //nolint:wrapcheck // the reader of the body compares the error
}

// responseBody is the body of a response.
type responseBody struct {
	io.ReadCloser
	call *call
	idle time.Duration
	ctx  context.Context //nolint:containedctx // of the call, for the cause of its end
}

func (b *responseBody) Read(p []byte) (int, error) {
	b.call.await(b.idle, true)
	n, err := b.ReadCloser.Read(p)
	b.call.pause(true)
	if err != nil && !errors.Is(err, io.EOF) && errors.Is(context.Cause(b.ctx), errSilent) {
		err = errSilent
	}
	return n, err //nolint:wrapcheck // io.EOF, or as the connection's own
}

// Close ends the call. If the response hasn't ended, it cancels the stream (CANCEL).
func (b *responseBody) Close() error {
	err := b.ReadCloser.Close()
	b.call.end()
	return err //nolint:wrapcheck // nothing to add
}
