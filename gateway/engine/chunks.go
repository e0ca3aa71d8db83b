package engine

import "strings"

// chunks decodes a chunked body (RFC 9112 section 7.1) as it is received. Lines end in CRLF;
// chunk extensions are dropped.
type chunks struct {
	at      chunkState
	left    int64  // bytes of the chunk
	digits  int    // of its size, so far
	skipped int    // bytes of blanks and extensions, so far
	trailer []byte // lines after the last chunk, each with its CRLF
	line    int    // length of the trailer line being read
}

type chunkState int

const (
	atSize   chunkState = iota
	inBlanks            // after the size
	inExtension
	afterSize // its LF is to come
	inData
	afterData    // CRLF is to come
	afterDataEnd // LF is to come
	inTrailer
	atEnd
)

// Limits on bytes other than data, so that a body can't go on forever without any data.
const (
	maxExtension = 4 << 10
	maxTrailer   = 16 << 10
)

// decode moves the data in p to its beginning. It returns the length of the data, and how many
// bytes of p belong to the body: all, unless it has ended.
func (c *chunks) decode(p []byte) (data, used int, err error) {
	i := 0
	for i < len(p) && c.at != atEnd {
		if c.at == inData {
			n := copy(p[data:], p[i:i+int(min(c.left, int64(len(p)-i)))])
			data, i, c.left = data+n, i+n, c.left-int64(n)
			if c.left == 0 {
				c.at = afterData
			}
			continue
		}
		if !c.step(p[i]) {
			return data, i, ErrResponse
		}
		i++
	}
	return data, i, nil
}

// step decodes one byte of framing and reports whether it is valid.
func (c *chunks) step(b byte) bool {
	switch c.at {
	case atSize:
		return c.size(b)
	case inBlanks:
		c.skipped++
		return (b == ' ' || b == '\t') && c.skipped <= maxExtension || c.behindSize(b)
	case inExtension:
		if b == '\r' {
			c.at = afterSize
			return true
		}
		c.skipped++
		return valueBytes[b] && c.skipped <= maxExtension
	case afterSize:
		if c.at = inData; c.left == 0 {
			c.at = inTrailer
		}
		c.digits, c.skipped = 0, 0
		return b == '\n'
	case afterData:
		c.at = afterDataEnd
		return b == '\r'
	case afterDataEnd:
		c.at = atSize
		return b == '\n'
	default: // inTrailer
		return c.trailerByte(b)
	}
}

func (c *chunks) size(b byte) bool {
	digit := int64(-1)
	switch {
	case b >= '0' && b <= '9':
		digit = int64(b - '0')
	case b|0x20 >= 'a' && b|0x20 <= 'f':
		digit = int64(b|0x20-'a') + 10
	}
	if digit >= 0 {
		c.left = c.left<<4 | digit
		c.digits++
		return c.digits <= 15
	}
	return c.digits > 0 && c.behindSize(b)
}

func (c *chunks) behindSize(b byte) bool {
	switch b {
	case '\r':
		c.at = afterSize
	case ';':
		c.at = inExtension
	case ' ', '\t':
		c.at = inBlanks
	default:
		return false
	}
	return true
}

func (c *chunks) trailerByte(b byte) bool {
	c.trailer = append(c.trailer, b)
	n := len(c.trailer)
	if n > maxTrailer {
		return false
	}
	if b != '\n' {
		c.line++
		return true
	}
	if n < 2 || c.trailer[n-2] != '\r' {
		return false
	}
	if c.line == 1 {
		c.at, c.trailer = atEnd, c.trailer[:n-2]
	}
	c.line = 0
	return true
}

// trailerFields returns the trailer of a body that has ended.
func (c *chunks) trailerFields() ([]Field, error) {
	if len(c.trailer) == 0 {
		return nil, nil
	}
	var out []Field
	for line := range strings.SplitSeq(strings.TrimSuffix(string(c.trailer), "\r\n"), "\r\n") {
		f, ok := cutField(line)
		if !ok {
			return nil, ErrResponse
		}
		out = append(out, f)
	}
	return out, nil
}
