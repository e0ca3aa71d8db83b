package secrets

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"log/slog"
)

// Secret is a text that never shows itself: it prints as *** wherever it goes,
// and Reveal is the one way to its value. Keep it in exported fields: package fmt
// cannot call the methods of what stands in an unexported one, and prints the
// text. (It asks nobody for %p either, which vet refuses.)
type Secret string

const hidden = "***"

// Reveal returns the value.
func (s Secret) Reveal() string { return string(s) }

// String hides the value; the empty one has nothing to hide.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return hidden
}

// Format implements fmt.Formatter: with String alone, a verb that does not fit a
// string, such as %d, would print the value inside its complaint.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText keeps encoders from showing the value.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue keeps slog from showing the value.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// Value implements driver.Valuer by refusing: a column keeps Sealed or a hash.
func (s Secret) Value() (driver.Value, error) {
	return nil, errors.New("secrets: a secret is not stored as it is; seal or hash it")
}

var (
	_ slog.LogValuer = Secret("")
	_ fmt.Formatter  = Secret("")
	_ driver.Valuer  = Secret("")
)
