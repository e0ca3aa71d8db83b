package engine

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// responseBody is the body of a response that RoundTrip returns. When the body ends it adds the
// trailers to the response and releases the connection.
type responseBody struct {
	passage  *passage
	response *http.Response
	left     int64 // for lengthKnown
	chunks   chunks
	over     error // returned by Read once the body has ended or failed
}

func (b *responseBody) Read(p []byte) (int, error) {
	if len(p) == 0 || b.over != nil {
		return 0, b.over
	}
	n, err := b.next(p)
	switch {
	case errors.Is(err, io.EOF):
		b.end(true, io.EOF)
	case err != nil:
		b.end(false, err)
	}
	return n, err
}

// next reads a part of the body, and returns io.EOF with the last one.
func (b *responseBody) next(p []byte) (int, error) {
	in := &b.passage.b.in
	for {
		n, over, err := b.decode(p, in)
		switch {
		case err != nil:
			return n, err
		case over:
			return n, io.EOF
		case n > 0:
			return n, nil
		case !in.empty():
			continue // p had framing only
		}
		b.passage.b.readWithin(time.Now(), b.passage.up.timeouts.silence(&b.passage.head))
		switch err := b.passage.b.fill(); {
		case errors.Is(err, io.EOF) && b.passage.head.framing == untilClose:
			return 0, io.EOF
		case errors.Is(err, io.EOF):
			return 0, io.ErrUnexpectedEOF
		case err != nil:
			return 0, fmt.Errorf("read the upstream's response: %w", err)
		}
	}
}

// decode moves held bytes of the body to p. over reports whether the body has ended.
func (b *responseBody) decode(p []byte, in *inbox) (n int, over bool, err error) {
	held := in.held()
	switch b.passage.head.framing {
	case lengthKnown:
		n = copy(p[:min(int64(len(p)), b.left)], held)
		in.use(n)
		b.left -= int64(n)
		return n, b.left == 0, nil
	case chunked:
		part := held[:min(len(held), len(p))]
		data, used, err := b.chunks.decode(part)
		n = copy(p, part[:data])
		if err != nil {
			return n, false, err
		}
		in.use(used)
		if over = b.chunks.at == atEnd; over {
			err = b.addTrailer()
		}
		return n, over, err
	default:
		n = copy(p, held)
		in.use(n)
		return n, false, nil
	}
}

func (b *responseBody) addTrailer() error {
	fields, err := b.chunks.trailerFields()
	for _, f := range fields {
		if b.response.Trailer == nil {
			b.response.Trailer = http.Header{}
		}
		name := http.CanonicalHeaderKey(f.Name)
		b.response.Trailer[name] = append(b.response.Trailer[name], f.Value)
	}
	return err
}

// Close closes the connection if the body wasn't read to its end.
func (b *responseBody) Close() error {
	b.end(false, errBodyClosed)
	return nil
}

var errBodyClosed = errors.New("the body is closed")

func (b *responseBody) end(whole bool, with error) {
	if b.over == nil {
		b.over = with
		b.passage.give(whole)
	}
}

// Switched is a connection to an upstream after 101. One goroutine may read and another one write; any goroutine may
// call Close and Cut. Reads fail with ErrSilent when neither side sends for Timeouts.StreamIdle.
type Switched struct {
	passage *passage
	touched atomic.Int64 // Unix time in nanoseconds
}

// ErrSilent is the error of Switched.Read if neither side has sent anything for too long. Writing is still possible.
var ErrSilent = errors.New("the tunnel is idle")

func newSwitched(p *passage) *Switched {
	s := &Switched{passage: p}
	p.b.extend = func() time.Time { return time.Unix(0, s.touched.Load()).Add(p.up.timeouts.StreamIdle) }
	return s
}

func (s *Switched) touch() time.Time {
	now := time.Now()
	s.touched.Store(now.UnixNano())
	return now
}

// Read reads data from the upstream.
func (s *Switched) Read(p []byte) (int, error) {
	b := s.passage.b
	if b.in.empty() {
		b.readWithin(s.touch(), s.passage.up.timeouts.StreamIdle)
		if err := b.fill(); err != nil {
			b.in.release()
			if isTimeout(err) && !b.interrupted.Load() {
				err = ErrSilent
			}
			return 0, err
		}
	}
	n := copy(p, b.in.held())
	b.in.use(n)
	if b.in.empty() {
		b.in.release()
	}
	return n, nil
}

// Write sends data to the upstream.
func (s *Switched) Write(p []byte) (int, error) {
	b := s.passage.b
	b.writeWithin(s.touch(), s.passage.up.timeouts.Idle)
	if err := b.write(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close ends both directions. Buffered bytes can still be read.
func (s *Switched) Close() error {
	s.passage.forget()
	return s.passage.b.conn.Close() //nolint:wrapcheck // nothing to add
}

// Cut is Close without waiting for the upstream: see the function Cut.
func (s *Switched) Cut() error {
	s.passage.forget()
	return Cut(s.passage.b.conn)
}
