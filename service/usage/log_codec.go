package usage

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/flate"
)

// logFormat is the first byte of a payload in usage_log. The rest is compressed: the number of counters, and for each
// its fields and its sums as varints. A text is a number: that of an earlier text in the payload, or the number of
// texts so far, which the length and the bytes of a new one follow.
const logFormat = 1

// maxPayload bounds what a payload may be when it is decompressed, so that a damaged one does not take all memory.
const maxPayload = 64 << 20

var errPayload = errors.New("usage: a payload of usage_log is damaged")

// encode returns the payload of counters.
func encode(list []counted) ([]byte, error) {
	plain := binary.AppendUvarint(make([]byte, 0, 64*len(list)+16), uint64(len(list)))
	texts := make(map[string]uint64, len(list))
	var last [5]struct { // of each field: mostly a text is that of the counter before, or a new one
		text   string
		number uint64
		set    bool
	}
	pace := paceOf(len(list))
	for i := range list {
		pace.step()
		c := &list[i]
		for field, s := range [...]string{c.project, c.environment, c.owner, c.key, c.route} {
			last := &last[field]
			if last.set && last.text == s {
				plain = binary.AppendUvarint(plain, last.number)
				continue
			}
			number, known := texts[s]
			if !known {
				number = uint64(len(texts))
				texts[s] = number
			}
			last.text, last.number, last.set = s, number, true
			plain = binary.AppendUvarint(plain, number)
			if !known {
				plain = append(binary.AppendUvarint(plain, uint64(len(s))), s...)
			}
		}
		for _, n := range [...]int64{c.hour, c.class, c.calls, c.in, c.out, c.last} {
			plain = binary.AppendVarint(plain, n)
		}
	}
	out := bytes.NewBuffer(append(make([]byte, 0, len(plain)/2), logFormat))
	w, err := flate.NewWriter(out, flate.BestSpeed)
	if err != nil {
		return nil, err
	}
	const piece = 64
	pace = paceOf(len(plain) / piece)
	for part := range slices.Chunk(plain, piece) {
		if _, err := w.Write(part); err != nil {
			return nil, err
		}
		pace.step()
	}
	if err := w.Close(); err != nil { // writes the rest
		return nil, err
	}
	return out.Bytes(), nil
}

// decode adds the counters of a payload.
func (t tally) decode(payload []byte) error {
	if len(payload) == 0 {
		return errPayload
	}
	if payload[0] != logFormat {
		return fmt.Errorf("usage: a payload of usage_log has format %d, which this version doesn't support", payload[0])
	}
	unpacked := flate.NewReader(bytes.NewReader(payload[1:]))
	plain, err := io.ReadAll(io.LimitReader(unpacked, maxPayload))
	if err != nil {
		return fmt.Errorf("%w: %w", errPayload, err)
	}
	r := payloadReader{rest: plain}
	for n := r.uvarint(); n > 0 && !r.damaged; n-- {
		var c counted
		for _, s := range [...]*string{&c.project, &c.environment, &c.owner, &c.key, &c.route} {
			*s = r.text()
		}
		for _, into := range [...]*int64{&c.hour, &c.class, &c.calls, &c.in, &c.out, &c.last} {
			*into = r.varint()
		}
		if !r.damaged {
			held(t, &c.counter).add(c.sums)
		}
	}
	if r.damaged || len(r.rest) > 0 {
		return errPayload
	}
	return nil
}

// payloadReader reads a payload. After the first value that is not there it is damaged, and reads zeros.
type payloadReader struct {
	rest    []byte
	texts   []string
	damaged bool
}

func (r *payloadReader) uvarint() uint64 {
	value, n := binary.Uvarint(r.rest)
	return value * r.skip(n)
}

func (r *payloadReader) varint() int64 {
	value, n := binary.Varint(r.rest)
	return value * int64(r.skip(n))
}

// skip skips a varint of n bytes. It returns 1, or 0 if n says that there was none.
func (r *payloadReader) skip(n int) uint64 {
	if n <= 0 {
		r.rest, r.damaged = nil, true
		return 0
	}
	r.rest = r.rest[n:]
	return 1
}

func (r *payloadReader) text() string {
	number := r.uvarint()
	if number < uint64(len(r.texts)) {
		return r.texts[number]
	}
	length := r.uvarint()
	if number > uint64(len(r.texts)) || length > uint64(len(r.rest)) {
		r.rest, r.damaged = nil, true
		return ""
	}
	s := string(r.rest[:length])
	r.rest = r.rest[length:]
	r.texts = append(r.texts, s)
	return s
}
