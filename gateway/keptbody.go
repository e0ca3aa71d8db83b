package gateway

import (
	"errors"
	"io"
	"sync"

	"postern/gateway/engine"
)

// keptBody keeps the first bytes of a body while it is passed on, so that it can be sent again if it has at most
// engine.MaxKept bytes, and there is memory for them.
type keptBody struct {
	from io.Reader
	hold *bodyHold

	// known reports that the length of the body is known. A body of unknown length can be sent again once it has ended.
	known bool

	reading sync.Mutex // held while from is read

	mu     sync.Mutex
	kept   []byte
	reader *keptReader // of the last try; nil after the call
	end    error       // of from; nil: it hasn't ended
	unkept bool        // part of the body was read without being kept
}

// keptReader reads the body from its beginning, for one try. Close does nothing, because the call closes the body.
type keptReader struct {
	of *keptBody
	at int
}

// next returns the reader for the next try. Earlier ones fail from then on. Every read of the new one fails if the last
// one has just stopped keeping the bytes that it read.
func (b *keptBody) next() *keptReader {
	b.mu.Lock()
	defer b.mu.Unlock()
	next := &keptReader{of: b}
	if b.reader = next; b.unkept {
		b.reader = nil
	}
	return next
}

// stop ends the reading, and the use of memory.
func (b *keptBody) stop() {
	if b != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.reader = nil
	}
}

// size returns how many bytes are kept.
func (b *keptBody) size() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return int64(len(b.kept))
}

// canRepeat reports whether another reader would get the whole body.
func (b *keptBody) canRepeat() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.unkept && len(b.kept) <= engine.MaxKept && (b.known && b.end == nil || errors.Is(b.end, io.EOF))
}

// Read returns the bytes that earlier tries have read, and then reads more of the body.
func (r *keptReader) Read(p []byte) (int, error) {
	b := r.of
	if n, err, done := r.readKept(p); done {
		return n, err
	}
	b.reading.Lock() // an earlier try may still wait for the caller
	defer b.reading.Unlock()
	if n, err, done := r.readKept(p); done {
		return n, err
	}
	room, err := r.room(len(p))
	if err != nil {
		return 0, err
	}
	if room == nil {
		return b.from.Read(p) //nolint:wrapcheck // as it is
	}
	n, err := b.from.Read(room)
	b.mu.Lock()
	b.kept, b.end = b.kept[:len(b.kept)+n], err
	b.mu.Unlock()
	n, err, _ = r.readKept(p)
	return n, err
}

// readKept reads kept bytes. done is false if more has to be read from the body.
func (r *keptReader) readKept(p []byte) (n int, err error, done bool) {
	b := r.of
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.reader != r:
		return 0, errBodyOver, true
	case r.at < len(b.kept):
		n = copy(p, b.kept[r.at:])
		r.at += n
		return n, nil, true
	}
	return 0, b.end, b.end != nil
}

// room returns memory for at most n more bytes of the body, nil if they aren't kept.
func (r *keptReader) room(n int) ([]byte, error) {
	b := r.of
	b.mu.Lock()
	defer b.mu.Unlock()
	full := len(b.kept)
	switch {
	case b.reader != r: // after the call, nothing would give memory back
		return nil, errBodyOver
	case b.unkept:
		return nil, nil
	case full == cap(b.kept):
		size := int(min(roomAfter(int64(full)), engine.MaxKept+1)) // one byte more shows that it is longer
		if b.unkept = full > engine.MaxKept || !b.hold.takeSpare(int64(size-full)); b.unkept {
			b.kept = nil
			return nil, nil
		}
		b.kept = append(make([]byte, 0, size), b.kept...)
	}
	return b.kept[full:min(full+n, cap(b.kept))], nil
}

// Close does nothing, because the call closes the body.
func (r *keptReader) Close() error { return nil }
