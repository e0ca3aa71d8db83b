package contract

import (
	"fmt"
	"io"
	"log/slog"
)

// Secret is a secret that is sent: JSON has its value, and everything that prints or logs it has ***. A type with one
// implements slog.LogValuer, since slog writes structs as JSON. Secrets that are never sent are of package secrets.
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
