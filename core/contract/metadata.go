package contract

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Metadata is a JSON object as compact text, "" for the empty one. Its numbers keep all of their digits.
type Metadata string

// ParseMetadata parses text that a person typed. It returns "" for an empty text. Text that isn't JSON is returned
// unchanged, and isn't Valid.
func ParseMetadata(text string) Metadata {
	var m Metadata
	if text = strings.TrimSpace(text); text == "" || m.UnmarshalJSON([]byte(text)) == nil {
		return m
	}
	return Metadata(text)
}

// MarshalJSON implements json.Marshaler.
func (m Metadata) MarshalJSON() ([]byte, error) {
	if m == "" {
		return []byte("{}"), nil
	}
	return []byte(m), nil
}

// UnmarshalJSON implements json.Unmarshaler. It accepts any JSON value, because Valid rejects those that aren't
// objects.
func (m *Metadata) UnmarshalJSON(raw []byte) error {
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		return err
	}
	var escaped bytes.Buffer
	json.HTMLEscape(&escaped, compact.Bytes()) // as json.Marshal writes it: the text stays the same in a round trip
	*m = Metadata(escaped.String())
	if *m == "{}" || *m == "null" {
		*m = ""
	}
	return nil
}

// Valid reports whether it is an object.
func (m Metadata) Valid() bool { return m == "" || m[0] == '{' && json.Valid([]byte(m)) }
