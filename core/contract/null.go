package contract

import (
	"bytes"
	"encoding/json"
	"time"
)

// OrNull returns a pointer to v, or nil (null in JSON) for the zero value.
func OrNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// UTC returns t in UTC, in which all answers state times (RFC 3339); nil for nil.
func UTC(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}

// rawJSON returns the JSON of texts, without the escapes that are only for HTML.
func rawJSON(v any) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(v) // JSON can hold every text
	return bytes.TrimSpace(out.Bytes())
}
