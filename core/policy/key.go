package policy

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"unsafe"
)

// The shape of an API key: <prefix>_<env>_<secret><check>.
const (
	DefaultKeyPrefix = "pst"
	AllEnvironments  = "all" // stands for the environment in a key that opens every one
	secretLen        = 32    // base62 characters, 190 bits
	checkLen         = 6     // base62 characters of a CRC-32
	base62           = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// MaxKey bounds a key, in bytes: a prefix has at most 16, the name of an environment 40.
const MaxKey = 128

// NewKey mints the plaintext of a key for the environment, AllEnvironments (or
// "") for one that opens every environment. It fails on a prefix or environment
// that would make a malformed key, and when the system has no randomness.
func NewKey(prefix, env string) (string, error) { return NewKeyFrom(rand.Reader, prefix, env) }

// NewKeyFrom is NewKey with the randomness of r, which alone decides the secret:
// the same bytes make the same key, however many a Read gives at a time. It
// takes r's bytes 64 at a time and leaves unused ones behind, so r serves one
// key only where keys must be repeatable. It fails also when r does.
func NewKeyFrom(r io.Reader, prefix, env string) (string, error) {
	if env == "" {
		env = AllEnvironments
	}
	if !validKeyPrefix(prefix) || !validKeyEnv(env) {
		return "", fmt.Errorf("mint a key: prefix %q and environment %q do not make a well-formed key", prefix, env)
	}
	return checked(r, prefix+"_"+env+"_")
}

// NewToken mints a credential of the same make as a key's: what it begins with,
// a secret and a check.
func NewToken(begin string) (string, error) { return checked(rand.Reader, begin) }

func checked(r io.Reader, begin string) (string, error) {
	secret, err := randomBase62(r, secretLen)
	if err != nil {
		return "", fmt.Errorf("mint a key: %w", err)
	}
	return begin + secret + keyCheck(begin+secret), nil
}

// WellFormedToken tells whether s is of NewToken's make and begins so.
func WellFormedToken(s, begin string) bool {
	tail, ok := strings.CutPrefix(s, begin)
	return ok && fits(s, tail)
}

// WellFormedKey tells whether s has the shape of a key and a check that fits.
// It costs no lookup, so that guessing costs the guesser more than the gateway.
// The prefix is not compared with the installation's: that may change, and the
// keys minted before live on.
func WellFormedKey(s string) bool {
	prefix, rest, ok := strings.Cut(s, "_")
	if !ok || !validKeyPrefix(prefix) {
		return false
	}
	env, tail, ok := strings.Cut(rest, "_")
	return ok && validKeyEnv(env) && fits(s, tail)
}

// fits tells whether the end of s, its tail, is a secret with the check of all
// that precedes it.
func fits(s, tail string) bool {
	if len(tail) != secretLen+checkLen {
		return false
	}
	for i := range len(tail) {
		if !isBase62(tail[i]) {
			return false
		}
	}
	body, check := s[:len(s)-checkLen], s[len(s)-checkLen:]
	return crcDigits(body) == [checkLen]byte([]byte(check))
}

// HashKey is what is kept of a key: the SHA-256 of all of it.
func HashKey(s string) [32]byte {
	var scratch [MaxKey]byte // so that no key is hashed with an allocation
	return sha256.Sum256(append(scratch[:0], s...))
}

// DisplayPrefix is the part of a key that may be shown: everything before the
// secret, with the underscore. "" for what is not a key.
func DisplayPrefix(key string) string {
	if i := strings.LastIndexByte(key, '_'); i >= 0 {
		return key[:i+1]
	}
	return ""
}

// Last4 is the end of a key, shown so that people can tell keys apart.
func Last4(key string) string { return key[max(0, len(key)-4):] }

// MaskKeys takes the secret out of every API key that stands in a text, such as a path
// that somebody put one into by mistake. The check of a key tells it from other words.
func MaskKeys(text string) string {
	if !strings.Contains(text, "_") {
		return text
	}
	var out strings.Builder
	for len(text) > 0 {
		end := strings.IndexFunc(
			text, func(r rune) bool { return r != '_' && r != '-' && (r > 0x7f || !isBase62(byte(r))) },
		)
		if end < 0 {
			end = len(text)
		}
		if word := text[:end]; WellFormedKey(word) {
			out.WriteString(DisplayPrefix(word) + "…" + Last4(word))
		} else {
			out.WriteString(word)
		}
		if end < len(text) { // what ended the word
			out.WriteByte(text[end])
			end++
		}
		text = text[end:]
	}
	return out.String()
}

// keyCheck is the CRC-32 (IEEE 802.3) of body in base62, big-endian, padded
// with zeros to six characters.
func keyCheck(body string) string {
	digits := crcDigits(body)
	return string(digits[:])
}

func crcDigits(body string) [checkLen]byte {
	// Converted, body would be copied to the heap: the checksum's argument escapes.
	sum := crc32.ChecksumIEEE(unsafe.Slice(unsafe.StringData(body), len(body))) //nolint:gosec // it is only read
	var digits [checkLen]byte
	for i := checkLen - 1; i >= 0; i-- {
		digits[i] = base62[sum%62]
		sum /= 62
	}
	return digits
}

// randomBase62 draws n characters, each equally likely: bytes from 248 up are
// thrown away, because 256 is no multiple of 62.
func randomBase62(r io.Reader, n int) (string, error) {
	out := make([]byte, 0, n)
	var pool [64]byte
	for len(out) < n {
		if _, err := io.ReadFull(r, pool[:]); err != nil {
			return "", fmt.Errorf("read randomness: %w", err)
		}
		for _, b := range pool {
			if b < 248 && len(out) < n {
				out = append(out, base62[b%62])
			}
		}
	}
	return string(out), nil
}

func validKeyPrefix(s string) bool {
	if len(s) < 2 || len(s) > 16 || !isLower(s[0]) {
		return false
	}
	for i := range len(s) {
		if !isLower(s[i]) && !isDigit(s[i]) {
			return false
		}
	}
	return true
}

func validKeyEnv(s string) bool {
	if s == "" || !isLower(s[0]) {
		return false
	}
	for i := range len(s) {
		if !isLower(s[i]) && !isDigit(s[i]) && s[i] != '-' {
			return false
		}
	}
	return true
}

func isLower(c byte) bool  { return c >= 'a' && c <= 'z' }
func isUpper(c byte) bool  { return c >= 'A' && c <= 'Z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isBase62(c byte) bool { return base62Bytes[c] }

// base62Bytes saves the branches: of a secret, none can be predicted.
var base62Bytes = func() (set [256]bool) {
	for i := range len(base62) {
		set[base62[i]] = true
	}
	return set
}()
