package keyfile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"postern/core/filelimits"
)

type kind byte

const (
	absent kind = iota // an empty cell, or null
	text
	numeral
	boolean
	list
	object
)

// value is a value of JSON, or the text of a cell.
type value struct {
	kind    kind
	text    string // of a text, number or boolean
	list    []value
	members []member
}

type member struct {
	name  string
	value value
}

// member returns the value of an object's member in any case; absent if it doesn't have one.
func (v value) member(name string) value {
	for _, m := range v.members {
		if strings.EqualFold(m.name, name) {
			return m.value
		}
	}
	return value{}
}

var (
	errJSON      = errors.New("the row isn't valid JSON")
	errRepeated  = errors.New("an object contains the same member twice")
	errSurrogate = errors.New("a string contains an unpaired surrogate")
)

// parse reads a JSON value of at most filelimits.KeyRow.
func parse(raw []byte) (value, error) {
	if !json.Valid(raw) {
		return value{}, errJSON
	}
	p := parser{raw: raw}
	return p.value()
}

// parser reads JSON that is known to be valid.
type parser struct {
	raw []byte
	at  int
}

func (p *parser) space() {
	for p.at < len(p.raw) && strings.IndexByte(" \t\r\n", p.raw[p.at]) >= 0 {
		p.at++
	}
}

// after skips spaces and a separator, and reports whether the separator was there.
func (p *parser) after(c byte) bool {
	p.space()
	if p.at < len(p.raw) && p.raw[p.at] == c {
		p.at++
		p.space()
		return true
	}
	return false
}

func (p *parser) value() (v value, err error) {
	p.space()
	begin := p.at
	switch p.raw[p.at] {
	case '{':
		v.kind = object
		v.members, err = p.object()
	case '[':
		v.kind = list
		p.at++
		for p.space(); err == nil && !p.after(']'); p.after(',') {
			var element value
			element, err = p.value()
			v.list = append(v.list, element)
		}
	case '"':
		v.kind = text
		v.text, err = p.text()
	default:
		for p.at < len(p.raw) && strings.IndexByte(",]} \t\r\n", p.raw[p.at]) < 0 {
			p.at++
		}
		v.kind, v.text = numeral, string(p.raw[begin:p.at])
		switch v.text {
		case "null":
			v.kind, v.text = absent, ""
		case "true", "false":
			v.kind = boolean
		}
	}
	return v, err
}

func (p *parser) object() (members []member, err error) {
	p.at++
	seen := map[string]bool(nil)
	for p.space(); !p.after('}'); p.after(',') {
		name, err := p.text()
		if err != nil {
			return nil, err
		}
		if len(members) == 8 { // few members are faster compared than put into a map
			seen = map[string]bool{}
			for _, m := range members {
				seen[m.name] = true
			}
		}
		if seen[name] {
			return nil, errRepeated
		}
		if seen == nil {
			for _, m := range members {
				if m.name == name {
					return nil, errRepeated
				}
			}
		} else {
			seen[name] = true
		}
		p.after(':')
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		members = append(members, member{name, v})
	}
	return members, nil
}

func (p *parser) text() (string, error) {
	begin := p.at
	escaped := false
	for p.at++; p.raw[p.at] != '"'; p.at++ {
		if p.raw[p.at] == '\\' {
			escaped = true
			p.at++
		}
	}
	p.at++
	if !escaped {
		return string(p.raw[begin+1 : p.at-1]), nil
	}
	var s string
	if err := json.Unmarshal(p.raw[begin:p.at], &s); err != nil {
		return "", errJSON
	}
	if strings.ContainsRune(s, utf8.RuneError) && !bytes.ContainsRune(p.raw[begin:p.at], utf8.RuneError) &&
		!bytes.Contains(bytes.ToLower(p.raw[begin:p.at]), []byte(`\ufffd`)) {
		return "", errSurrogate
	}
	return s, nil
}

// jsonScanner finds the values in a stream of JSON without parsing them.
type jsonScanner struct {
	in     *bufio.Reader
	buffer []byte // of the last value
}

// peek returns the next character that isn't a space, without reading it.
func (s *jsonScanner) peek() (byte, error) {
	for spaces := int64(0); ; spaces++ {
		if spaces > filelimits.KeyRow.Most {
			return 0, &Error{Code: CodeLimit, Detail: "The file has more than 1 MB of consecutive spaces. Remove them."}
		}
		c, err := s.in.ReadByte()
		if err != nil {
			return 0, err
		}
		if strings.IndexByte(" \t\r\n\x1e", c) < 0 { // 1e: JSON text sequences (RFC 7464)
			return c, s.in.UnreadByte()
		}
	}
}

// value reads the value that begins at the next character, after begin, which was read already. It is at most a row,
// and stays until the next one is read.
func (s *jsonScanner) value(row int64, begin ...byte) ([]byte, error) {
	raw, depth, quoted := s.buffer[:0], len(begin), false
	raw = append(raw, begin...)
	defer func() { s.buffer = raw }()
	for {
		c, err := s.in.ReadByte()
		switch {
		case errors.Is(err, io.EOF) && len(raw) > 0 && depth == 0 && !quoted:
			return raw, nil // a number
		case errors.Is(err, io.EOF):
			return nil, truncated(row)
		case err != nil:
			return nil, err
		}
		if depth == 0 && !quoted && len(raw) > 0 && strings.IndexByte(",]}: \t\r\n", c) >= 0 {
			return raw, s.in.UnreadByte()
		}
		if raw = append(raw, c); int64(len(raw)) > filelimits.KeyRow.Most {
			return nil, limitError(row, filelimits.KeyRow)
		}
		switch {
		case quoted && c == '\\':
			escaped, err := s.in.ReadByte()
			if err != nil {
				return nil, truncated(row)
			}
			raw = append(raw, escaped)
			continue
		case c == '"':
			quoted = !quoted
		case quoted:
			continue
		case c == '{', c == '[':
			if depth++; int64(depth) > filelimits.KeyNesting.Most {
				return nil, limitError(row, filelimits.KeyNesting)
			}
			continue
		case c == '}', c == ']':
			depth--
		default:
			continue
		}
		if depth <= 0 && !quoted {
			return raw, nil
		}
	}
}

func truncated(row int64) error {
	return &Error{Row: row, Code: CodeFormat, Detail: "The JSON ends in the middle of a value. Export the file again."}
}
