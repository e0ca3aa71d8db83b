package policy

import (
	"bytes"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
	"unsafe"
)

// reading is a way in which an upstream may read a path other than as segments that are decoded
// once.
type reading uint8

// The readings end a segment at a slash, an encoded slash or a backslash. They treat the text after a semicolon as
// parameters of the segment, which aren't part of it (RFC 3986, 3.3).
const (
	decodedOnce   reading = iota // before parameters are cut off
	decodedWholly                // until no escape is left
	withoutParams                // decoded once after parameters were cut off
	loosely                      // decoded until no escape is left, and then without what some drop: see loosen
	readings                     // how many there are
)

// hasReadings reports whether a normalized path can be read in another way.
func hasReadings(path string) bool {
	return strings.IndexByte(path, '%') >= 0 || strings.IndexByte(path, ';') >= 0
}

// of appends a path in this reading to dst: decoded segments, each with a slash before it.
func (r reading) of(dst []byte, path string) []byte {
	var scratch [512]byte
	decoded := scratch[:0]
	switch r {
	case decodedOnce:
		decoded = appendDecoded(decoded, path)
	case decodedWholly:
		decoded = decodeWholly(decoded, path)
	case loosely:
		return trimSegments(appendSegments(dst, loosen(decodeWholly(decoded, path))))
	case withoutParams:
		var cut [512]byte
		plain := appendSegments(cut[:0], []byte(path))
		decoded = appendDecoded(decoded, unsafe.String(unsafe.SliceData(plain), len(plain))) //nolint:gosec // only read
	}
	return appendSegments(dst, decoded)
}

// Readings yields the other ways in which an upstream may read a normalized path. Most paths have none. In the results,
// only the percent sign is escaped.
func Readings(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !hasReadings(path) {
			return
		}
		whole := ""
		for as := range readings {
			read := string(as.of(nil, path))
			if read == "" {
				read = "/"
			}
			switch {
			case as == decodedWholly:
				whole = read
			case as == loosely && read == whole:
				continue
			}
			if !yield(strings.ReplaceAll(read, "%", "%25")) {
				return
			}
		}
	}
}

// loosen returns a decoded path, in place, as the least strict upstream reads it: NUL ends it, as strings in C, and so
// does what begins a query or a fragment; control characters and what is not UTF-8 are dropped.
func loosen(path []byte) []byte {
	if end := bytes.IndexAny(path, "\x00?#"); end >= 0 {
		path = path[:end]
	}
	out := path[:0]
	for len(path) > 0 {
		c, size := utf8.DecodeRune(path)
		if !unicode.IsControl(c) && (c != utf8.RuneError || size > 1) {
			out = append(out, path[:size]...)
		}
		path = path[size:]
	}
	return out
}

// trimSegments removes, in place, white space at the ends of segments that each have a slash before them.
func trimSegments(path []byte) []byte {
	out := path[:0]
	for len(path) > 0 {
		segment, rest, _ := bytes.Cut(path[1:], []byte{'/'})
		end := len(path) - len(rest)
		if len(rest) > 0 {
			end-- // at its slash
		}
		if segment = bytes.TrimSpace(segment); len(segment) > 0 {
			out = append(append(out, '/'), segment...)
		}
		path = path[end:]
	}
	return out
}

// appendSegments appends the segments of a path that are not empty, without their parameters.
func appendSegments(dst, path []byte) []byte {
	begun, cut := false, false
	for _, c := range path {
		switch {
		case c == '/' || c == '\\':
			begun, cut = false, false
		case cut:
		case c == ';':
			cut = true
		default:
			if !begun {
				dst, begun = append(dst, '/'), true
			}
			dst = append(dst, c)
		}
	}
	return dst
}

// appendDecoded appends text with every valid escape decoded once.
func appendDecoded(dst []byte, text string) []byte {
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			high, okHigh := unhex(text[i+1])
			low, okLow := unhex(text[i+2])
			if okHigh && okLow {
				dst = append(dst, high<<4|low)
				i += 2
				continue
			}
		}
		dst = append(dst, text[i])
	}
	return dst
}
