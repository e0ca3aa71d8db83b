package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"postern/core/filelimits"
	"postern/platform/fault"
)

// errTooManyValues and errTooDeep are recognized by their texts, which are all that huma keeps of an error. They limit
// the work of the validator, which collects an error with a path for every invalid value and cannot be stopped.
var (
	errTooManyValues = errors.New(filelimits.BodyValues.Sentence())
	errTooDeep       = errors.New(filelimits.BodyNesting.Sentence())
)

// nulAt is the beginning of the error about a string with U+0000, which PostgreSQL cannot
// store. The string's JSON Pointer follows.
const nulAt = "character U+0000 at "

// UnmarshalBody is UnmarshalStrict with the bounds of a request body. Into an any, which only the validator
// reads, an OpenAPI document is an empty object.
func UnmarshalBody(data []byte, into any) error {
	count, depth, document := scanBody(data)
	switch {
	case depth > filelimits.BodyNesting.Most:
		return errTooDeep
	case count > filelimits.BodyValues.Most:
		return errTooManyValues
	case document.end == 0 || !utf8.Valid(data):
		return UnmarshalStrict(data, into)
	}
	rest := slices.Concat(data[:document.begin], []byte("{}"), data[document.end:])
	if _, validated := into.(*any); validated && json.Valid(data) {
		return UnmarshalStrict(rest, into)
	}
	if err := unmarshal(data, into); err != nil {
		return err
	}
	return checkStrict(rest)
}

// documentMember is the member of a body that may be an OpenAPI document. Its values are not counted: no
// schema describes them, so that the validator does not look at them, and the body's size bounds them.
const documentMember = "openapi"

// span is a part of a text. The zero value means none.
type span struct{ begin, end int }

// scanBody estimates the number of values in a JSON text by the characters that open
// or separate them, without parsing. For valid JSON it is off by one at most. It also
// returns how deep they are nested, and where the document is, if it is an object or a text.
func scanBody(data []byte) (count, deepest int64, found span) {
	depth, began := int64(0), 0
	quoted, document := false, false
	var last []byte // string at depth 1
	for i := 0; i < len(data); i++ {
		c := data[i]
		switch {
		case quoted && c == '\\':
			i++
			continue
		case c == '"':
			if quoted = !quoted; quoted {
				began = i + 1
			} else if depth == 1 {
				last = data[began:i]
			}
			continue
		case quoted:
			continue
		}
		switch c {
		case ':':
			if !document && depth == 1 && string(last) == documentMember {
				document = true
				if found.begin == 0 {
					found.begin = i + 1
				}
			}
		case ',':
			if document && depth == 1 {
				document = false
				found.close(data, i)
			}
		case '[', '{':
			if depth++; !document {
				deepest = max(deepest, depth)
			}
		case ']', '}':
			if depth--; document && depth == 0 {
				found.close(data, i)
			}
		}
		if !document && (c == ',' || c == '[' || c == '{') {
			count++
		}
	}
	return count, deepest, found
}

// close ends the document before a place, unless it has ended.
func (s *span) close(data []byte, at int) {
	value := bytes.TrimLeft(data[s.begin:at], " \t\r\n")
	if s.end == 0 && len(value) > 0 && (value[0] == '{' || value[0] == '"') {
		s.end = at
	}
}

// UnmarshalStrict is json.Unmarshal, but refuses JSON that two parsers could read
// differently: invalid UTF-8 and duplicate members (RFC 8259, 8.1 and 4). It also refuses
// U+0000 in strings and long member names.
func UnmarshalStrict(data []byte, into any) error {
	if !utf8.Valid(data) {
		return errors.New("it isn't encoded as UTF-8")
	}
	if err := unmarshal(data, into); err != nil {
		return err
	}
	return checkStrict(data)
}

func unmarshal(data []byte, into any) error {
	err := json.Unmarshal(data, into)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		// "number 99…": the error's text repeats the number, which may be as long as the body.
		wrong.Value, _, _ = strings.Cut(wrong.Value, " ")
	}
	return err
}

// checkStrict refuses what UnmarshalStrict does in a JSON text that json.Unmarshal has accepted.
func checkStrict(data []byte) error {
	return (&strictReader{decoder: json.NewDecoder(bytes.NewReader(data))}).value()
}

// strictReader checks a JSON text that json.Unmarshal has accepted.
type strictReader struct {
	decoder *json.Decoder
	path    []string // of the current value
}

// value checks one value, at path.
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
	_, err = r.decoder.Token() // the closing delimiter
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
		if int64(len(name)) > filelimits.BodyMember.Most {
			return errors.New(filelimits.BodyMember.Refusal())
		}
		if seen[name] {
			return fmt.Errorf("the member %q appears twice", name)
		}
		seen[name] = true
		if err := r.checkNUL(name); err != nil {
			return err
		}
		if len(r.path) == 0 && name == documentMember {
			var skipped json.RawMessage // package openapi reads it
			if err := r.decoder.Decode(&skipped); err != nil {
				return err
			}
			continue
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

// below checks the value of a member or element.
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

// BodyRefusal returns the error for a message of UnmarshalBody about valid JSON with
// content that is refused. It returns false for any other message.
func BodyRefusal(message string) (*fault.Error, bool) {
	switch message {
	case errTooManyValues.Error():
		return fault.New(fault.Invalid, "too_many_values", "%s", message), true
	case errTooDeep.Error():
		return fault.New(fault.Invalid, "too_deep", "%s", message), true
	}
	if at, ok := strings.CutPrefix(message, nulAt); ok {
		refusal, _ := errors.AsType[*fault.Error](
			fault.InvalidField(at, "invalid_text", "Remove the NUL character (U+0000)."),
		)
		return refusal, true
	}
	return nil, false
}
