package validate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"postern/core/openapi/tree"
)

// maxNesting bounds the arrays and objects of a body within each other.
const maxNesting = 200

// Errors of readJSON, for callers.
var (
	errNoJSON  = errors.New("must be JSON")
	errNotUTF8 = errors.New("must be JSON in UTF-8")
	errTwice   = errors.New("contains the same member twice")
	errTooDeep = fmt.Errorf("must not be nested more than %d levels deep", maxNesting)
	errSurplus = errors.New("must be one JSON value")
	errMemory  = errors.New("is too large to be checked right now")
)

// The memory that values take once they are read, in bytes, in addition to their text.
const (
	valueMemory  = 64
	objectMemory = 350
)

// stepsOfJSON are those of a byte of JSON that is read: 0.3 µs where it has many small values.
const stepsOfJSON = 3

// jsonReader reads one JSON value in memory that the work counts.
type jsonReader struct {
	*json.Decoder

	work *Work
}

// readJSON reads one JSON value. A member that an object has twice is an error: the upstream may read
// the other one.
func readJSON(work *Work, data []byte) (any, error) {
	if !utf8.Valid(data) {
		return nil, errNotUTF8
	}
	if !work.take(2 * len(data)) { // the decoder's buffer, and the texts
		return nil, errMemory
	}
	from := jsonReader{json.NewDecoder(bytes.NewReader(data)), work}
	from.UseNumber()
	value, err := from.value(0)
	if err != nil {
		return nil, err
	}
	if _, err := from.Token(); !errors.Is(err, io.EOF) {
		return nil, errSurplus
	}
	return value, nil
}

func (from jsonReader) value(depth int) (any, error) {
	token, err := from.Token()
	if err != nil {
		return nil, errNoJSON
	}
	delimiter, composite := token.(json.Delim)
	switch {
	case !composite:
		return token, nil
	case depth == maxNesting:
		return nil, errTooDeep
	case delimiter == '[':
		return from.array(depth + 1)
	}
	return from.object(depth + 1)
}

func (from jsonReader) array(depth int) (any, error) {
	list := []any{}
	for from.More() {
		if !from.work.take(valueMemory) {
			return nil, errMemory
		}
		item, err := from.value(depth)
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	return list, from.end()
}

func (from jsonReader) object(depth int) (any, error) {
	object, size := map[string]any{}, objectMemory
	for from.More() {
		if !from.work.take(size) {
			return nil, errMemory
		}
		size = valueMemory
		token, err := from.Token()
		name, ok := token.(string)
		if err != nil || !ok {
			return nil, errNoJSON
		}
		if _, there := object[name]; there {
			return nil, errTwice
		}
		if object[name], err = from.value(depth); err != nil {
			return nil, err
		}
	}
	return object, from.end()
}

func (from jsonReader) end() error {
	if _, err := from.Token(); err != nil {
		return errNoJSON
	}
	return nil
}

// appendCanonical appends a text that is the same for equal values, and for no others.
func appendCanonical(dst []byte, value any) []byte {
	switch value := value.(type) {
	case string:
		return appendText(dst, value)
	case json.Number:
		return readDecimal(value).appendTo(dst)
	case []any:
		dst = append(dst, '[')
		for _, item := range value { // plain: the caller has spent sizeOf
			dst = append(appendCanonical(dst, item), ',')
		}
		return append(dst, ']')
	case map[string]any:
		dst = append(dst, '{')
		if len(value) == 1 { // of which a document can have many
			for name, item := range value { // plain: it is one
				dst = appendCanonical(appendText(dst, name), item)
			}
			return append(dst, '}')
		}
		for _, name := range tree.Keys(value) { // plain: the caller has spent sizeOf
			dst = append(appendCanonical(appendText(dst, name), value[name]), ',')
		}
		return append(dst, '}')
	}
	return fmt.Append(dst, value)
}

// appendText appends a text with its length in front, so that nothing has to be escaped.
func appendText(dst []byte, text string) []byte {
	dst = strconv.AppendInt(append(dst, '"'), int64(len(text)), 10)
	return append(append(dst, ':'), text...)
}

// sizeOf is about how many steps it takes to compare a value. Its canonical text has about 16 bytes for each.
func sizeOf(value any) int {
	size := 1
	switch value := value.(type) {
	case string:
		return 1 + len(value)/16
	case json.Number:
		return 1 + len(value)/16
	case []any:
		for _, item := range value { // plain: to spend it
			size += sizeOf(item)
		}
	case map[string]any:
		for name, item := range value { // plain: to spend it
			size += 1 + len(name)/16 + sizeOf(item)
		}
	}
	return size
}
