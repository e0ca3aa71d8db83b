package contract

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Metadata is a JSON object as compact text, "" for the empty one. Its numbers keep all of their digits.
type Metadata string

// ParseMetadata returns the object in a text that was typed, "" for an empty one. Text that isn't JSON stays unchanged,
// and isn't valid.
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

// UnmarshalJSON implements json.Unmarshaler. It takes any JSON: the rules refuse what isn't an object.
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
