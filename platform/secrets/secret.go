package secrets

import (
	"crypto/rand"
	"crypto/sha256"
	"database/sql/driver"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// Secret is a string that prints as ***; only Reveal returns its value. Use it in
// exported fields only: package fmt cannot call the methods of an unexported field's
// value, and prints the string. (Neither does fmt call them for %p, which vet refuses.)
type Secret string

const hidden = "***"

// Random returns 256 random bits, base64url encoded. Only its Digest is kept.
func Random() string {
	var b [32]byte
	if _, err := rand.Read(b[:]); err != nil {
		panic(fmt.Sprintf("secrets: read random bytes: %v", err))
	}
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// Digest returns the SHA-256 by which a Random secret is found again.
func Digest(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// Given returns a secret that came in as text, from a request, a form, a flag or a variable. White
// space around it is cut off: a file that was made with echo, or a Kubernetes secret made from one,
// ends with a newline that belongs to no token or client secret.
func Given(text string) Secret { return Secret(strings.TrimSpace(text)) }

// Reveal returns the value.
func (s Secret) Reveal() string { return string(s) }

// String returns *** for the value, and "" for the empty one.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return hidden
}

// Format implements fmt.Formatter: with String alone, a verb that is wrong for a
// string, such as %d, would print the value in the error text.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText implements encoding.TextMarshaler without revealing the value.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue implements slog.LogValuer without revealing the value.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// Value implements driver.Valuer by returning an error: columns store Sealed or a hash.
func (s Secret) Value() (driver.Value, error) {
	return nil, errors.New("secrets: a secret can't be stored in plain text: seal or hash it")
}

var (
	_ slog.LogValuer = Secret("")
	_ fmt.Formatter  = Secret("")
	_ driver.Valuer  = Secret("")
)
