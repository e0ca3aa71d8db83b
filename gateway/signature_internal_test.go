package gateway

import (
	"crypto/ed25519"
	"encoding/base64"
	"testing"
	"time"
)

// The example of RFC 9421, appendix B.2.6, with the key of appendix B.1.4. Ed25519 signatures
// are deterministic, so the signature is equal only if every byte of the base is.
func TestSignature(t *testing.T) {
	seed, err := base64.RawURLEncoding.DecodeString("n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU")
	if err != nil {
		t.Fatal(err)
	}
	s := newSignature()
	s.cover("date", "Tue, 20 Apr 2021 02:07:55 GMT")
	s.cover("@method", "POST")
	s.cover("@path", "/foo")
	s.cover("@authority", "example.com")
	s.cover("content-type", " application/json\t") // white space around a value does not count
	s.cover("content-length", "18")
	input, value := s.sign(ed25519.NewKeyFromSeed(seed),
		signatureParams{created: 1618884473, keyID: "test-key-ed25519"})
	wantInput := `("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;` +
		`keyid="test-key-ed25519"`
	if input != wantInput {
		t.Errorf("Signature-Input %s, want %s", input, wantInput)
	}
	const want = "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw=="
	if value != want {
		t.Errorf("Signature %s, want %s", value, want)
	}
}

func TestSigner_at(t *testing.T) {
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := &signer{keys: []signingKey{
		{id: "first", from: began}, {id: "second", from: began.Add(time.Hour)},
		{id: "third", from: began.Add(2 * time.Hour)},
	}}
	for name, tt := range map[string]struct {
		after time.Duration
		want  string
	}{
		"the clock is behind": {-time.Second, "first"},
		"at the beginning":    {0, "first"},
		"just before another": {time.Hour - 1, "first"},
		"at another's time":   {time.Hour, "second"},
		"after the last":      {24 * time.Hour, "third"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := s.at(began.Add(tt.after)).id; got != tt.want {
				t.Errorf("%s signs, want %s", got, tt.want)
			}
		})
	}
}
