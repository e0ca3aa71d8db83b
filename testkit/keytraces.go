package testkit

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"strings"
	"testing"
)

// KeyTraces returns what a private key is recognized by in a text, by the name of the encoding:
// the first two lines of its PEM (PKCS #8), and its secret number as bytes, in hex and base64url.
func KeyTraces(t testing.TB, key crypto.PrivateKey) map[string]string {
	t.Helper()
	var secret []byte
	switch key := key.(type) {
	case *ecdsa.PrivateKey:
		raw, err := key.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		secret = raw
	case ed25519.PrivateKey:
		secret = key.Seed()
	default:
		t.Fatalf("no traces of a %T", key)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	traces := map[string]string{
		"as bytes":     string(secret),
		"in hex":       hex.EncodeToString(secret),
		"in base64url": base64.RawURLEncoding.EncodeToString(secret),
	}
	lines := strings.Split(string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), "\n")
	if traces["in PEM, first line"] = lines[1]; len(lines[2]) == len(lines[1]) {
		traces["in PEM, second line"] = lines[2]
	}
	return traces
}
