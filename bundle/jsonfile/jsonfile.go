// Package jsonfile writes the JSON documents of an export: deterministic bytes that are also valid YAML, without
// characters that are hidden from a reviewer. It owns the encoding (RFC 8259) and leaves the content of documents to
// its callers.
package jsonfile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"

	"postern/platform/listjson"
)

// Encode returns v as JSON on one line that is also valid YAML 1.2 and hides nothing
// from a reviewer: it has raw UTF-8 instead of surrogate pairs (which YAML does not
// join), and escapes for every character that a terminal would act on or an editor
// would hide, such as DEL, C1 controls, byte order marks and bidirectional controls.
func Encode(v any) ([]byte, error) {
	return newEncoder().encode(v)
}

// encoder is Encode with a buffer that it reuses.
type encoder struct {
	buf  bytes.Buffer
	json *json.Encoder // into buf
}

func newEncoder() *encoder {
	e := &encoder{}
	e.json = json.NewEncoder(&e.buf)
	e.json.SetEscapeHTML(false)
	return e
}

// encode returns bytes that are valid until the next call.
func (e *encoder) encode(v any) ([]byte, error) {
	e.buf.Reset()
	if err := e.json.Encode(v); err != nil {
		return nil, fmt.Errorf("jsonfile: encode %T: %w", v, err)
	}
	return escapeUnseen(bytes.TrimSuffix(e.buf.Bytes(), []byte("\n"))), nil
}

// Write writes v as an indented document with a final newline. A list without items is [].
func Write(w io.Writer, v any) error {
	text, err := listjson.Marshal(v)
	if err != nil {
		return fmt.Errorf("jsonfile: encode %T: %w", v, err)
	}
	line, err := Encode(json.RawMessage(text))
	if err != nil {
		return err
	}
	var buf bytes.Buffer
	if err := json.Indent(&buf, line, "", "  "); err != nil {
		return fmt.Errorf("jsonfile: indent %T: %w", v, err)
	}
	buf.WriteByte('\n')
	_, err = w.Write(buf.Bytes())
	return err
}

func escapeUnseen(in []byte) []byte {
	if isPlain(in) {
		return in
	}
	out := make([]byte, 0, len(in)+64)
	for len(in) > 0 {
		r, size := utf8.DecodeRune(in)
		if Unseen(r) {
			out = fmt.Appendf(out, `\u%04x`, r)
		} else {
			out = append(out, in[:size]...)
		}
		in = in[size:]
	}
	return out
}

// isPlain reports whether all bytes are less than 0x7f.
func isPlain(in []byte) bool {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	for ; len(in) >= 8; in = in[8:] {
		// Adding 1 sets the high bit of 0x7f; bytes that already have it are checked too.
		word := binary.LittleEndian.Uint64(in)
		if (word|(word&^high+ones))&high != 0 {
			return false
		}
	}
	for _, c := range in {
		if c >= 0x7f {
			return false
		}
	}
	return true
}

// Unseen reports whether r is escaped. That includes U+FFFD, to which encoding/json
// converts invalid UTF-8: text that is read back must be written the same way.
func Unseen(r rune) bool {
	switch {
	case r == utf8.RuneError, r >= 0x7f && r <= 0x9f, r == 0xad, r == 0x061c, r == 0xfeff, r == 0xfffe, r == 0xffff:
		return true
	case r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f:
		return true
	}
	return false
}

// Stream writes large JSON documents piece by piece. After an error it writes nothing
// more, and Close returns the error.
type Stream struct {
	w     *bufio.Writer
	lines *encoder
	first bool // no element written yet in the innermost open list
	err   error
}

// NewStream buffers writes to w; call Close at the end.
func NewStream(w io.Writer) *Stream {
	return &Stream{w: bufio.NewWriterSize(w, 64<<10), lines: newEncoder()}
}

// Raw writes text unchanged.
func (s *Stream) Raw(text string) {
	if s.err == nil {
		_, s.err = s.w.WriteString(text)
	}
}

// Value writes v as JSON on the current line.
func (s *Stream) Value(v any) {
	line, err := s.lines.encode(v)
	if err != nil && s.err == nil {
		s.err = err
	}
	if s.err == nil {
		_, s.err = s.w.Write(line)
	}
}

// Fail makes Close return the error, unless there was one before.
func (s *Stream) Fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// Open begins a list or object with the bracket. Next separates its elements.
func (s *Stream) Open(bracket string) {
	s.Raw(bracket)
	s.first = true
}

// Next begins an element on its own line after indent.
func (s *Stream) Next(indent string) {
	if !s.first {
		s.Raw(",")
	}
	s.first = false
	s.Raw("\n" + indent)
}

// Close flushes and returns the first error. It does not close the underlying writer.
func (s *Stream) Close() error {
	if s.err == nil {
		s.err = s.w.Flush()
	}
	return s.err
}
