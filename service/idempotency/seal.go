package idempotency

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"postern/platform/fault"
)

// Request identifies a request: two that are equal are the same one sent again.
type Request struct {
	Credential string // the caller's secret, "" for an anonymous caller
	Key        string // the idempotency key, as ReadKey returned it
	Method     string
	Path       string
	Query      string
	Body       []byte
}

// The bounds of a key. Without a credential the key alone keeps the answer from
// others, and has to hold 128 random bits: 22 characters of base64, of which
// hardly any random text has fewer than anonymousKinds different ones.
const (
	maxKey         = 255 // bytes
	anonymousKey   = 22
	anonymousKinds = 8
)

// ReadKey reads the values of the header Idempotency-Key, of which there must be one: a text of visible ASCII, as it is
// or as a String of RFC 8941 (3.3.3) in quotes, as in the draft. Both are the same key.
func ReadKey(values []string, anonymous bool) (string, error) {
	if len(values) != 1 {
		return "", malformed("The Idempotency-Key header is repeated. Send it once.")
	}
	key := values[0]
	if strings.HasPrefix(key, `"`) {
		inner, ok := strings.CutSuffix(key[1:], `"`)
		if !ok || strings.ContainsAny(inner, `"\`) {
			return "", malformed("The Idempotency-Key header begins with a quotation mark but isn't a quoted string. " +
				"Leave out the quotation mark, or close the string.")
		}
		key = inner
	}
	switch {
	case key == "":
		return "", malformed(
			"The Idempotency-Key header is empty. Send a random string, such as a UUID, or leave it out.",
		)
	case len(key) > maxKey:
		return "", malformed("The Idempotency-Key header has more than 255 characters. Send a shorter string, such " +
			"as a UUID.")
	case strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return "", malformed("The Idempotency-Key header contains spaces or characters that aren't printable ASCII. " +
			"Send another string, such as a UUID.")
	case anonymous && (len(key) < anonymousKey || kinds(key) < anonymousKinds):
		return "", fault.New(fault.Malformed, "idempotency_key_too_weak",
			"If you send no credential, only the Idempotency-Key header keeps the response private. Send at least "+
				"22 random characters, such as a UUID.")
	}
	return key, nil
}

func malformed(text string) error {
	return fault.New(fault.Malformed, "invalid_idempotency_key", "%s", text)
}

func kinds(s string) int {
	seen := map[rune]bool{}
	for _, r := range s {
		seen[r] = true
	}
	return len(seen)
}

// secrets are derived from a request's credential, idempotency key and path. The database
// stores neither of the first two, so a reader of it can open no response and compare no
// request. An anonymous request has only its key, which ReadKey therefore requires to be
// hard to guess.
type secrets struct {
	lookup  []byte // names the row
	compare []byte // keys the fingerprint
	sealing []byte // AES-256
}

const derivation = "postern idempotency 1"

func (r Request) derive() (secrets, error) {
	material := framed(nil, []byte(r.Credential), []byte(r.Key), []byte(r.Method), []byte(r.Path))
	out, err := hkdf.Key(sha256.New, material, nil, derivation, 3*sha256.Size)
	if err != nil {
		return secrets{}, fmt.Errorf("idempotency: derive keys: %w", err)
	}
	return secrets{lookup: out[:32], compare: out[32:64], sealing: out[64:]}, nil
}

// fingerprint is keyed: bodies hold secrets too, and short ones could be found
// by trying.
func (s secrets) fingerprint(r Request) []byte {
	mac := hmac.New(sha256.New, s.compare)
	mac.Write(framed(nil, []byte(r.Query), r.Body))
	return mac.Sum(nil)
}

// framed appends each part behind its length, so that no two lists of parts look
// the same.
func framed(to []byte, parts ...[]byte) []byte {
	for _, part := range parts {
		to = binary.BigEndian.AppendUint64(to, uint64(len(part)))
		to = append(to, part...)
	}
	return to
}

func (s secrets) seal(answer []byte) ([]byte, error) {
	box, err := s.box()
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, box.NonceSize())
	if _, err := rand.Read(nonce); err != nil {
		return nil, fmt.Errorf("idempotency: read random bytes: %w", err)
	}
	return box.Seal(nonce, nonce, answer, s.lookup), nil
}

func (s secrets) open(sealed []byte) ([]byte, error) {
	box, err := s.box()
	if err != nil {
		return nil, err
	}
	if len(sealed) < box.NonceSize() {
		return nil, errors.New("idempotency: a stored response is too short")
	}
	return box.Open(nil, sealed[:box.NonceSize()], sealed[box.NonceSize():], s.lookup)
}

func (s secrets) box() (cipher.AEAD, error) {
	block, err := aes.NewCipher(s.sealing)
	if err != nil {
		return nil, fmt.Errorf("idempotency: %w", err)
	}
	return cipher.NewGCM(block)
}
