package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"postern/core/openapi/tree"
)

func refuse(format string, args ...any) error { return &Error{[]string{fmt.Sprintf(format, args...)}} }

// toJSON returns a document as JSON, unchanged or converted from YAML, and its decoded value.
func toJSON(b *Budget, data []byte) ([]byte, map[string]any, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) // byte order mark
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return nil, nil, refuse("The document is empty.")
	}
	if data[0] != '{' {
		return readYAML(b, data)
	}
	root, err := ReadJSON(b, data)
	if err == nil || b.Err() != nil {
		return data, root, err
	}
	made, root, yamlErr := readYAML(b, data) // a flow mapping also begins with a brace
	if yamlErr == nil || b.Err() != nil {
		return made, root, b.Err()
	}
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	switch {
	case !ok:
		return nil, nil, refuse("The document isn't valid JSON.")
	case strings.Contains(syntax.Error(), "unexpected end"):
		return nil, nil, refuse("The document isn't valid JSON: it ends too early.")
	}
	before := data[:max(0, syntax.Offset-1)]
	return nil, nil, refuse("The document isn't valid JSON: unexpected text at line %d, column %d.",
		1+bytes.Count(before, []byte("\n")), len(before)-bytes.LastIndexByte(before, '\n'))
}

// Steps that reading takes.
const (
	bytesOfStep  = 16
	stepsOfValue = 8
)

// ReadJSON reads an object. Its memory is counted first: it can be much more than the text itself.
func ReadJSON(b *Budget, data []byte) (map[string]any, error) {
	if values := b.scan(data); !b.Spend(len(data)/bytesOfStep + stepsOfValue*values) {
		return nil, b.Err()
	}
	if !json.Valid(data) { // the decoder stops after the first value
		var into any
		return nil, json.Unmarshal(data, &into)
	}
	read, err := tree.Read(data)
	if err != nil {
		return nil, err
	}
	return read.Root, nil
}

// scan counts the values of JSON, and refuses too many of them or too many levels. For invalid JSON the number means
// nothing.
func (b *Budget) scan(data []byte) (values int) {
	depth, line, quoted := int64(0), 1, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '\n':
			line++
		case c == ',':
			values++
		case c == '{' || c == '[':
			values++
			if depth++; depth > Nesting.Most {
				b.At = fmt.Sprintf("Line %d", line)
				b.Fits(Nesting, depth)
				return values
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	b.Fits(Values, int64(values))
	return values
}
