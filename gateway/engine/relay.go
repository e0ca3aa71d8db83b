package engine

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// relay writes the response whose head was received to the caller. Its error wraps ErrCaller or
// ErrBrokenOff.
func (x *Exchange) relay(b *backend, rw Rewriter) error {
	out := x.appendAnswer(x.page.out[:0], rw)
	x.page.out = out
	x.relaying = true
	switch x.response.framing {
	case lengthKnown:
		return x.relayLength(b, out)
	case chunked:
		return x.relayChunks(b, out, rw)
	case untilClose:
		return x.relayUntilClose(b, out)
	}
	x.tap(nil, true)
	if !x.send(out) {
		return ErrCaller
	}
	return nil
}

// tap shows a part of the body to Tap, before it is sent, and whether it is the last.
func (x *Exchange) tap(data []byte, last bool) {
	if x.Tap == nil {
		return
	}
	if len(data) > 0 {
		x.Tap.Data(data)
	}
	if last {
		x.Tap.End()
	}
}

func (x *Exchange) appendAnswer(out []byte, rw Rewriter) []byte {
	a := &x.response
	out = appendStatus(out, a.Status)
	out = rw.ResponseHead(out, a)
	if !a.has("Date") {
		out = appendDate(out)
	}
	switch a.framing {
	case noBody:
		if a.keepsLength(x.Request.Method) {
			out = appendLength(out, a.length)
		}
	case lengthKnown:
		out = appendLength(out, a.length)
	case chunked, untilClose:
		out = append(out, "Transfer-Encoding: chunked\r\n"...)
	}
	if a.trailers {
		out = a.announce(out, rw)
	}
	return x.endHead(out)
}

func (r *Response) has(name string) bool {
	for i := range r.Fields {
		if len(r.Fields[i].Name) == len(name) && strings.EqualFold(r.Fields[i].Name, name) {
			return true
		}
	}
	return false
}

// keepsLength reports whether Content-Length is forwarded with a response that has no body: the
// response to HEAD has the length of the one to GET.
func (r *Response) keepsLength(method string) bool {
	return r.declared && method == http.MethodHead && r.Status != http.StatusNoContent &&
		r.Status != http.StatusNotModified
}

// announce appends a Trailer field with the trailers that are passed on.
func (r *Response) announce(out []byte, rw Rewriter) []byte {
	names := slices.DeleteFunc(r.announced(), func(name string) bool { return !rw.MayTrail(name) })
	if len(names) == 0 {
		return out
	}
	return AppendField(out, "Trailer", strings.Join(names, ", "))
}

// announced returns the names in the Trailer field.
func (r *Response) announced() (names []string) {
	for _, f := range r.Fields {
		if !strings.EqualFold(f.Name, "Trailer") {
			continue
		}
		for name := range strings.SplitSeq(f.Value, ",") {
			if name = http.CanonicalHeaderKey(trimBlanks(name)); isToken(name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// more waits for more bytes of the response.
func (x *Exchange) more(b *backend) error {
	b.readWithin(time.Now(), x.silence)
	if err := b.fill(); err != nil {
		if x.conn.hasLeft() {
			return ErrCaller
		}
		return fmt.Errorf("%w: %w", ErrBrokenOff, err)
	}
	return nil
}

// relayLength forwards a body of known length. Bytes that came with the head are sent with the
// head; later ones are sent when they are received.
func (x *Exchange) relayLength(b *backend, out []byte) error {
	left := x.response.length
	n := min(left, int64(len(b.in.held())))
	out = append(out, b.in.held()[:n]...)
	x.page.out = out
	for piece := out; ; {
		x.tap(b.in.held()[:n], n == left)
		if !x.send(piece) {
			return ErrCaller
		}
		b.in.use(int(n))
		x.BytesOut += n
		if left -= n; left == 0 {
			return nil
		}
		if left > smallBox {
			b.in.enlarge()
		}
		if err := x.more(b); err != nil {
			return err
		}
		n = min(left, int64(len(b.in.held())))
		piece = b.in.held()[:n]
	}
}

// overLimit reports whether the body with more bytes is longer than MaxResponse.
func (x *Exchange) overLimit(more int) bool {
	return x.MaxResponse > 0 && x.BytesOut+int64(more) > x.MaxResponse
}

// relayChunks forwards a chunked body in new chunks, one for each read. Data before a malformed chunk is sent too.
func (x *Exchange) relayChunks(b *backend, out []byte, rw Rewriter) error {
	var body chunks
	for first := true; ; first = false {
		piece, size, malformed := x.nextPiece(b, &body, rw)
		if x.overLimit(size) {
			return fmt.Errorf("%w: %w", ErrBrokenOff, ErrResponseTooLarge)
		}
		if first {
			piece = append(out, piece...)
			x.page.out = piece
		}
		if len(piece) > 0 && !x.send(piece) {
			return ErrCaller
		}
		x.BytesOut += int64(size)
		switch {
		case malformed != nil:
			return fmt.Errorf("%w: %w", ErrBrokenOff, malformed)
		case body.at == atEnd:
			return nil
		}
		if err := x.more(b); err != nil {
			return err
		}
	}
}

// nextPiece decodes the held bytes and frames their data, size bytes, in place as a chunk.
func (x *Exchange) nextPiece(b *backend, body *chunks, rw Rewriter) (piece []byte, size int, err error) {
	held := b.in.held()
	data, used, err := body.decode(held)
	var trailer []byte
	if err == nil && body.at == atEnd {
		trailer, err = x.appendTrailer(nil, body, rw)
	}
	start, stop := b.in.r, b.in.r+data
	x.tap(b.in.data[start:stop], err == nil && body.at == atEnd)
	surplus := len(held) - used
	if data > 0 {
		start = frameChunk(b.in.data, start, data)
		stop += copy(b.in.data[stop:], "\r\n")
	}
	switch {
	case err != nil || body.at != atEnd:
		piece = b.in.data[start:stop]
	case len(trailer) == 0:
		stop += copy(b.in.data[stop:], "0\r\n\r\n")
		piece = b.in.data[start:stop]
	default:
		piece = append(append([]byte(nil), b.in.data[start:stop]...), "0\r\n"...)
		piece = append(append(piece, trailer...), "\r\n"...)
	}
	b.in.r, b.in.w = headroom, headroom+min(surplus, 1) // one byte is enough to show that there was a surplus
	return piece, data, err
}

// frameChunk writes the size of a chunk before its data and returns where the chunk begins. It
// fits: nothing is held before headroom.
func frameChunk(buf []byte, start, size int) int {
	var digits [8]byte
	text := strconv.AppendInt(digits[:0], int64(size), 16)
	start -= 2
	copy(buf[start:], "\r\n")
	start -= len(text)
	copy(buf[start:], text)
	return start
}

func (x *Exchange) appendTrailer(out []byte, body *chunks, rw Rewriter) ([]byte, error) {
	fields, err := body.trailerFields()
	for _, f := range fields {
		if rw.MayTrail(http.CanonicalHeaderKey(f.Name)) {
			out = AppendField(out, f.Name, f.Value)
		}
	}
	return out, err
}

// relayUntilClose forwards the bytes until the upstream closes, in chunks.
func (x *Exchange) relayUntilClose(b *backend, out []byte) error {
	for {
		n := len(b.in.held())
		if x.overLimit(n) {
			return fmt.Errorf("%w: %w", ErrBrokenOff, ErrResponseTooLarge)
		}
		if n > 0 {
			out = strconv.AppendInt(out, int64(n), 16)
			out = append(out, '\r', '\n')
			out = append(out, b.in.held()...)
			out = append(out, '\r', '\n')
			x.tap(b.in.held(), false)
			b.in.use(n)
		}
		if !x.send(out) {
			return ErrCaller
		}
		x.BytesOut += int64(n)
		err := x.more(b)
		if errors.Is(err, io.EOF) {
			x.tap(nil, true)
			if !x.send([]byte("0\r\n\r\n")) {
				return ErrCaller
			}
			return nil
		}
		if err != nil {
			return err
		}
		out = x.page.out[:0]
	}
}
