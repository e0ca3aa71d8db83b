package federation

import (
	"encoding/json"
	"strings"
)

// digit reads a boolean that Microsoft sends as true or 1, with quotes or without. Anything
// else is false.
type digit bool

// UnmarshalJSON implements json.Unmarshaler.
func (d *digit) UnmarshalJSON(raw []byte) error {
	text := strings.Trim(string(raw), `"`)
	*d = text == "true" || text == "1"
	return nil
}

// word reads a text, and "" for any other value: other issuers may use the claim's name for something else.
type word string

// UnmarshalJSON implements json.Unmarshaler.
func (w *word) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		*w = word(text)
	}
	return nil
}
