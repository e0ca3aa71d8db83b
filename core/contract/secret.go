package contract

import (
	"fmt"
	"io"
	"log/slog"
)

// Secret is a secret that requests or responses contain: JSON shows its value, and everything that prints or logs it
// shows ***. A type that contains one implements slog.LogValuer, since slog writes structs as JSON. For secrets that
// are never sent, see package secrets.
type Secret string

// Reveal returns the value.
func (s Secret) Reveal() string { return string(s) }

// String returns *** for the value, and "" for the empty one.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "***"
}

// Format implements fmt.Formatter: with String alone, a verb that is wrong for a string, such as %d, would
// print the value.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// LogValue implements slog.LogValuer.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
