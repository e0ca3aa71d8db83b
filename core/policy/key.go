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
	AllEnvironments  = "all" // replaces the environment in a key that is valid for all of them
	secretLen        = 32    // base62 characters, 190 bits
	checkLen         = 6     // base62 characters of a CRC-32
	base62           = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// MaxKey bounds a key, in bytes: a prefix has at most 16, the name of an environment 40.
const MaxKey = 128

// MaxImportedKey bounds a key that was imported, in bytes.
const MaxImportedKey = 4096

// PossibleKey reports whether s can be a key and is worth a lookup. Imported keys can have any form.
func PossibleKey(s string, imported bool) bool {
	if imported {
		return s != "" && len(s) <= MaxImportedKey
	}
	return WellFormedKey(s)
}

// NewKey creates the plaintext of a key for the environment, or for all environments if that is "" or AllEnvironments.
// It fails if the prefix or environment would make the key malformed.
func NewKey(prefix, env string) (string, error) { return NewKeyFrom(rand.Reader, prefix, env) }

// NewKeyFrom is NewKey with the randomness of r, which alone determines the secret:
// the same bytes yield the same key, however many each Read returns. It reads 64
// bytes at a time and discards those it does not need, so keys that must be
// repeatable need a reader each. It also fails if r does.
func NewKeyFrom(r io.Reader, prefix, env string) (string, error) {
	if env == "" {
		env = AllEnvironments
	}
	if !validKeyPrefix(prefix) || !validKeyEnv(env) {
		return "", fmt.Errorf("mint a key: prefix %q and environment %q do not make a well-formed key", prefix, env)
	}
	return checked(r, prefix+"_"+env+"_")
}

// NewToken creates a credential that ends like a key: begin, a secret and a check.
func NewToken(begin string) (string, error) { return checked(rand.Reader, begin) }

func checked(r io.Reader, begin string) (string, error) {
	secret, err := randomBase62(r, secretLen)
	if err != nil {
		return "", fmt.Errorf("mint a key: %w", err)
	}
	return begin + secret + keyCheck(begin+secret), nil
}

// WellFormedToken reports whether s could be a result of NewToken(begin): it has the
// shape of one and the right check.
func WellFormedToken(s, begin string) bool {
	tail, ok := strings.CutPrefix(s, begin)
	return ok && endsWell(s, tail)
}

// WellFormedKey reports whether s has the shape of a key and the right check. It needs no lookup, so guessing costs the
// guesser more than the gateway. It doesn't compare the prefix with the installation's, which may have changed since
// the key was created.
func WellFormedKey(s string) bool {
	prefix, rest, ok := strings.Cut(s, "_")
	if !ok || len(s) > MaxKey || !validKeyPrefix(prefix) {
		return false
	}
	env, tail, ok := strings.Cut(rest, "_")
	return ok && validKeyEnv(env) && endsWell(s, tail)
}

// endsWell reports whether tail, the end of s, is a secret and the check of all that
// precedes the check.
func endsWell(s, tail string) bool {
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

// HashKey returns the SHA-256 of a whole key. Postern stores only this hash.
func HashKey(s string) [32]byte {
	var scratch [MaxKey]byte // avoids an allocation
	return sha256.Sum256(append(scratch[:0], s...))
}

// DisplayPrefix returns the part of a key that may be shown: everything before the
// secret, with the underscore. It returns "" if key has no underscore.
func DisplayPrefix(key string) string {
	if i := strings.LastIndexByte(key, '_'); i >= 0 {
		return key[:i+1]
	}
	return ""
}

// Last4 returns the last four characters of a key, by which people can tell keys apart.
func Last4(key string) string { return key[max(0, len(key)-4):] }

// MaskKeys removes the secret from every API key in a text, such as a path into which a caller put a key by mistake. It
// changes only words with the right check.
func MaskKeys(text string) string {
	if !strings.Contains(text, "_") {
		return text
	}
	var out strings.Builder
	endsWord := func(r rune) bool { return r != '_' && r != '-' && (r > 0x7f || !isBase62(byte(r))) }
	for len(text) > 0 {
		end := strings.IndexFunc(text, endsWord)
		if end < 0 {
			end = len(text)
		}
		if word := text[:end]; WellFormedKey(word) {
			out.WriteString(DisplayPrefix(word) + "…" + Last4(word))
		} else {
			out.WriteString(word)
		}
		if end < len(text) { // the byte that ended the word; the rest of a longer rune follows as a word
			out.WriteByte(text[end])
			end++
		}
		text = text[end:]
	}
	return out.String()
}

// keyCheck returns the CRC-32 (IEEE 802.3) of body in base62, most significant digit
// first, padded with zeros to six characters.
func keyCheck(body string) string {
	digits := crcDigits(body)
	return string(digits[:])
}

func crcDigits(body string) [checkLen]byte {
	// A conversion would copy body to the heap: the argument of ChecksumIEEE escapes.
	sum := crc32.ChecksumIEEE(unsafe.Slice(unsafe.StringData(body), len(body))) //nolint:gosec // it is only read
	var digits [checkLen]byte
	for i := checkLen - 1; i >= 0; i-- {
		digits[i] = base62[sum%62]
		sum /= 62
	}
	return digits
}

// randomBase62 returns n characters, each equally likely: bytes from 248 up are
// discarded, because 256 isn't a multiple of 62.
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

// base62Bytes is a table because branches on the bytes of a secret mispredict.
var base62Bytes = func() (set [256]bool) {
	for i := range len(base62) {
		set[base62[i]] = true
	}
	return set
}()
