package validate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"postern/core/openapi/tree"
)

// maxNesting bounds the arrays and objects of a body within each other.
const maxNesting = 200

// Errors of readJSON, for callers.
var (
	errNoJSON  = errors.New("must be JSON")
	errNotUTF8 = errors.New("must be JSON in UTF-8")
	errTwice   = errors.New("has a member twice")
	errTooDeep = fmt.Errorf("must not be nested more than %d deep", maxNesting)
	errSurplus = errors.New("must be one JSON value")
	errMemory  = errors.New("is too large to be checked at the moment")
)

// The memory that values take once they are read, in bytes, besides their text.
const (
	valueMemory  = 64
	objectMemory = 350
)

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

// canonical returns a text that is the same for equal values.
func canonical(value any) string {
	if s, ok := value.(string); ok {
		return `"` + s
	}
	var out strings.Builder
	writeCanonical(&out, value)
	return out.String()
}

func writeCanonical(to *strings.Builder, value any) {
	switch value := value.(type) {
	case string:
		to.WriteString(strconv.Quote(value))
	case json.Number:
		to.WriteString(canonicalNumber(value))
	case []any:
		to.WriteByte('[')
		for _, item := range value { // plain: who calls has spent sizeOf
			writeCanonical(to, item)
			to.WriteByte(',')
		}
		to.WriteByte(']')
	case map[string]any:
		to.WriteByte('{')
		for _, name := range tree.Keys(value) { // plain: who calls has spent sizeOf
			to.WriteString(strconv.Quote(name))
			to.WriteByte(':')
			writeCanonical(to, value[name])
			to.WriteByte(',')
		}
		to.WriteByte('}')
	default:
		fmt.Fprint(to, value)
	}
}

// canonicalNumber is the same for 1, 1.0 and 1e0, and keeps integers of any size apart.
func canonicalNumber(n json.Number) string {
	if digits := n.String(); !strings.ContainsAny(digits, ".eE") && digits != "-0" {
		return digits
	}
	f, _ := strconv.ParseFloat(n.String(), 64)
	if f == 0 {
		return "0"
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// sizeOf is about how many steps it takes to compare a value. Its canonical text has about 16 bytes for each.
func sizeOf(value any) int {
	size := 1
	switch value := value.(type) {
	case string:
		return 1 + len(value)/16
	case json.Number:
		return 1 + len(canonicalNumber(value))/16
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
