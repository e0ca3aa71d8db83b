package policy

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxAnswer is the largest JSON answer that is read to remember an object, in bytes.
const MaxAnswer = 1 << 20

// maxAnswerValue bounds a value that becomes part of an object, in bytes.
const maxAnswerValue = 256

// MissReason says why an answer gave no object to remember.
type MissReason string

// The reasons.
const (
	MissNotJSON    MissReason = "not_json"      // it has another media type, or isn't valid JSON
	MissEncoded    MissReason = "encoded"       // its encoding isn't gzip
	MissTooLarge   MissReason = "too_large"     // it is larger than MaxAnswer
	MissNoBody     MissReason = "no_body"       // it has no body
	MissIncomplete MissReason = "incomplete"    // the upstream or the caller ended it early
	MissNoValue    MissReason = "no_value"      // it has no value at the place that the rule names
	MissUnusable   MissReason = "unusable"      // the value is neither text nor a whole number, or too long
	MissOverloaded MissReason = "too_many_wait" // too many changes wait for the database
	MissNoMemory   MissReason = "no_memory"     // the bodies of other calls use all of the memory for bodies
)

// Remembered returns the object that the caller owns after an answer with this body, or the reason why there is none.
// The path is normalized and below the environment. The body only matters if ReadsAnswer.
func (t *Tracking) Remembered(path string, body []byte) (string, MissReason) {
	if t.ReadsAnswer() && !json.Valid(body) {
		return "", MissNotJSON
	}
	var out []byte
	for i := range t.remember {
		part := &t.remember[i]
		switch {
		case part.text != "":
			out = append(out, part.text...)
		case part.answer == nil:
			out = part.path.appendValue(out, path, true)
		default:
			value, miss := valueAt(body, part.answer)
			if miss != "" {
				return "", miss
			}
			out = appendValue(out, value, false)
		}
		if len(out) > MaxObject {
			return "", MissUnusable
		}
	}
	return string(out), ""
}

// valueAt returns the text or whole number at a place of a JSON document. If a name is in an object twice, the last one
// counts, as for most JSON parsers.
func valueAt(body []byte, way []string) (string, MissReason) {
	for _, name := range way {
		var found json.RawMessage
		switch first := bytes.TrimLeft(body, " \t\r\n"); {
		case len(first) > 0 && first[0] == '{':
			found = member(first, name)
		case len(first) > 0 && first[0] == '[':
			found = element(first, name)
		}
		if found == nil {
			return "", MissNoValue
		}
		body = found
	}
	body = bytes.Trim(body, " \t\r\n")
	switch {
	case len(body) == 0 || bytes.Equal(body, []byte("null")):
		return "", MissNoValue
	case body[0] == '"':
		var text string
		if json.Unmarshal(body, &text) != nil || text == "" || len(text) > maxAnswerValue ||
			strings.ContainsRune(text, utf8.RuneError) { // texts that are broken in different ways would become equal
			return "", MissUnusable
		}
		return text, ""
	case isWholeNumber(body):
		return string(body), ""
	}
	return "", MissUnusable
}

// isWholeNumber reports whether JSON is a number without fraction and exponent: 42.0 and 4.2e1 have no
// one spelling in a path.
func isWholeNumber(body []byte) bool {
	digits := bytes.TrimPrefix(body, []byte("-"))
	for _, c := range digits {
		if !isDigit(c) {
			return false
		}
	}
	return len(digits) > 0 && len(digits) <= maxAnswerValue
}

func member(object []byte, name string) (found json.RawMessage) {
	in := json.NewDecoder(bytes.NewReader(object))
	if _, err := in.Token(); err != nil {
		return nil
	}
	for in.More() {
		key, err := in.Token()
		if err != nil {
			return nil
		}
		var value json.RawMessage
		if err := in.Decode(&value); err != nil {
			return nil
		}
		if key == name {
			found = value
		}
	}
	return found
}

func element(array []byte, place string) json.RawMessage {
	n, err := strconv.ParseUint(place, 10, 31)
	if err != nil {
		return nil
	}
	in := json.NewDecoder(bytes.NewReader(array))
	if _, err := in.Token(); err != nil {
		return nil
	}
	for ; in.More(); n-- {
		var value json.RawMessage
		if err := in.Decode(&value); err != nil && err != io.EOF {
			return nil
		}
		if n == 0 {
			return value
		}
	}
	return nil
}
