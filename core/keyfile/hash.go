package keyfile

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"
)

const (
	renew = "Postern looks up keys by the SHA-256 of the entire key. Import the values of these keys if you have " +
		"them, or issue new keys."
	onlySHA256 = "Use the SHA-256 of the entire key, in hex or base64."
)

// passwordHashes are what hashes begin with that are salted or slow, or of another function.
var passwordHashes = []struct{ begin, name string }{
	{"$2a$", "a bcrypt hash"}, {"$2b$", "a bcrypt hash"}, {"$2y$", "a bcrypt hash"}, {"$2x$", "a bcrypt hash"},
	{"bcrypt", "a bcrypt hash"}, // Django: bcrypt$, bcrypt_sha256$
	{"$argon2", "an argon2 hash"}, {"argon2", "an argon2 hash"},
	{"$scrypt$", "an scrypt hash"}, {"scrypt$", "an scrypt hash"}, {"scrypt:", "an scrypt hash"},
	{"$7$", "an scrypt hash"}, {"$s0$", "an scrypt hash"}, {"scrypt_", "an scrypt hash"},
	{"pbkdf2", "a PBKDF2 hash"}, {"$pbkdf2", "a PBKDF2 hash"},
	{"sha512$$", "an unsalted SHA-512 hash, as djangorestframework-api-key stores it"},
	{"sha512$", "a salted SHA-512 hash"}, {"sha256$", "a salted SHA-256 hash"}, {"$5$", "a salted SHA-256 hash"},
	{"$6$", "a salted SHA-512 hash"}, {"sha1$", "a SHA-1 hash"}, {"{sha}", "a SHA-1 hash"},
	{"{ssha", "a salted hash"}, {"md5$", "an MD5 hash"}, {"$1$", "an MD5 hash"}, {"$apr1$", "an MD5 hash"},
	{"sha512:", "a SHA-512 hash"}, {"sha1:", "a SHA-1 hash"}, {"md5:", "an MD5 hash"},
	{"hmac", "an HMAC, which depends on the other server's secret"},
}

// passwordHash returns the name of the password hash that a text begins like, or "" if it doesn't.
func passwordHash(s string) string {
	lower := strings.ToLower(s)
	for _, p := range passwordHashes {
		if strings.HasPrefix(lower, p.begin) && strings.ContainsAny(s, "$:}") {
			return p.name
		}
	}
	if key, digest, found := strings.Cut(s, "."); found && len(key) <= 16 {
		return passwordHash(digest) // djangorestframework-api-key before version 2: prefix.hash
	}
	return ""
}

// hashesByLength are functions by the length of their results, in bytes.
var hashesByLength = map[int]string{
	4: "a murmur32 hash", 8: "a murmur64 hash", 16: "an MD5 or murmur128 hash", 20: "a SHA-1 hash",
	28: "a SHA-224 hash", 48: "a SHA-384 hash", 64: "a SHA-512 hash",
}

// readHash reads a SHA-256 in hex, base64 or base64url, padded or not. For any other text, it returns the reason.
func readHash(s string) (hash [32]byte, wrong string) {
	if name := passwordHash(s); name != "" {
		return hash, "This is " + name + ", which can't be looked up. " + renew
	}
	if len(s) > 7 && strings.EqualFold(s[:7], "sha256:") {
		s = s[7:]
	}
	raw := decodeHash(s)
	switch {
	case raw == nil:
		return hash, "This isn't a SHA-256 in hex, base64 or base64url. " + onlySHA256
	case len(raw) != len(hash):
		if name := hashesByLength[len(raw)]; name != "" {
			return hash, "Judging by its length, this is " + name + ", which can't be looked up. " + renew
		}
		return hash, "A SHA-256 has 32 bytes, but this has a different length. " + onlySHA256
	}
	copy(hash[:], raw)
	if hash == sha256.Sum256(nil) || hash == [32]byte{} {
		return hash, "This is the hash of an empty string. Leave out rows without a key."
	}
	return hash, ""
}

// decodeHash returns the bytes of a hash in hex or base64; nil for other texts.
func decodeHash(s string) []byte {
	if raw, err := hex.DecodeString(s); err == nil && len(raw) > 0 {
		return raw
	}
	plain := strings.TrimRight(s, "=")
	if len(s)-len(plain) > 2 || len(s) != len(plain) && len(s)%4 != 0 {
		return nil
	}
	encoding := base64.RawStdEncoding
	if strings.ContainsAny(plain, "-_") {
		encoding = base64.RawURLEncoding
	}
	raw, err := encoding.Strict().DecodeString(plain)
	if err != nil || len(raw) == 0 || strings.ContainsAny(s, "\r\n") {
		return nil
	}
	return raw
}

// isHex reports whether a text is hex digits.
func isHex(s string) bool {
	_, err := hex.DecodeString(s)
	return err == nil && s != ""
}
