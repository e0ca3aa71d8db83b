package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"postern/platform/fault"
)

// Bounds of a JSON body beside its size. The validator notes an error for each wrong
// value, with its path, and cannot be stopped: these bounds are what limits its work.
const (
	maxValues     = 25_000 // members, elements and the objects and arrays that hold them
	maxMemberName = 256    // bytes
)

// errTooManyValues is told apart by its text: huma keeps no more of an error.
var errTooManyValues = fmt.Errorf("it holds more than %d values", maxValues)

// nulAt begins the error on a string with U+0000, which PostgreSQL cannot keep; the
// pointer of the string follows.
const nulAt = "character U+0000 at "

// UnmarshalBody is unmarshalStrict within the bounds of a JSON body.
func UnmarshalBody(data []byte, into any) error {
	if countValues(data) > maxValues {
		return errTooManyValues
	}
	return UnmarshalStrict(data, into)
}

// countValues counts what opens or separates values in a JSON text, without reading
// them. It is exact for valid JSON, to the one.
func countValues(data []byte) int {
	count, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ',' || c == '[' || c == '{'):
			count++
		}
	}
	return count
}

// UnmarshalStrict refuses JSON that two parsers could read differently: with
// bytes that are no UTF-8, or with a member that is named twice (RFC 8259, 4 and
// 8.1). It refuses U+0000 in strings too.
func UnmarshalStrict(data []byte, into any) error {
	if !utf8.Valid(data) {
		return errors.New("it is not encoded as UTF-8")
	}
	err := json.Unmarshal(data, into)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		// "number 99…": the error's text repeats it, and it may be as long as the body.
		wrong.Value, _, _ = strings.Cut(wrong.Value, " ")
	}
	if err != nil {
		return err
	}
	return (&strictReader{decoder: json.NewDecoder(bytes.NewReader(data))}).value()
}

// strictReader reads a JSON text that is known to be valid.
type strictReader struct {
	decoder *json.Decoder
	path    []string // to the value that is being read
}

// value reads one value, at the path.
func (r *strictReader) value() error {
	token, err := r.decoder.Token()
	if err != nil {
		return err
	}
	if text, ok := token.(string); ok {
		return r.checkNUL(text)
	}
	open, ok := token.(json.Delim)
	if !ok {
		return nil
	}
	if open == '{' {
		err = r.members()
	} else {
		err = r.elements()
	}
	if err != nil {
		return err
	}
	_, err = r.decoder.Token() // the closing one
	return err
}

func (r *strictReader) members() error {
	seen := map[string]bool{}
	for r.decoder.More() {
		token, err := r.decoder.Token()
		if err != nil {
			return err
		}
		name, _ := token.(string)
		if len(name) > maxMemberName {
			return fmt.Errorf("a member's name is longer than %d bytes", maxMemberName)
		}
		if seen[name] {
			return fmt.Errorf("the member %q is named twice", name)
		}
		seen[name] = true
		if err := r.checkNUL(name); err != nil {
			return err
		}
		if err := r.below(name); err != nil {
			return err
		}
	}
	return nil
}

func (r *strictReader) elements() error {
	for i := 0; r.decoder.More(); i++ {
		if err := r.below(strconv.Itoa(i)); err != nil {
			return err
		}
	}
	return nil
}

// below reads the value of a member or element.
func (r *strictReader) below(name string) error {
	r.path = append(r.path, name)
	err := r.value()
	r.path = r.path[:len(r.path)-1]
	return err
}

func (r *strictReader) checkNUL(text string) error {
	if !strings.ContainsRune(text, 0) {
		return nil
	}
	var pointer strings.Builder
	for _, name := range r.path {
		pointer.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)) // RFC 6901, 3
	}
	return errors.New(nulAt + pointer.String())
}

// BodyRefusal is what a refusal of the reader says to the caller, where the text is
// valid JSON and its content is at fault.
func BodyRefusal(message string) (*fault.Error, bool) {
	if message == errTooManyValues.Error() {
		return fault.New(
			fault.Invalid,
			"too_many_values",
			"The body holds more than %d values. Send it in parts.",
			maxValues,
		), true
	}
	if at, ok := strings.CutPrefix(message, nulAt); ok {
		refusal, _ := errors.AsType[*fault.Error](
			fault.InvalidField(at, "invalid_text", "Leave the character U+0000 out of texts."),
		)
		return refusal, true
	}
	return nil, false
}
