package projects

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"

	"postern/core/filelimits"
)

func TestParseChain_limits(t *testing.T) {
	t.Parallel()
	now := time.Now()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		t.Fatal(err)
	}
	one := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	for _, tt := range []struct {
		limit *filelimits.Limit
		text  func(n int) string
	}{
		{filelimits.Certificates, func(n int) string { return strings.Repeat(one, n) }},
		{filelimits.CertificateSize, func(n int) string { return one + strings.Repeat("\n", n-len(one)) }},
	} {
		for n := tt.limit.Most - 1; n <= tt.limit.Most+1; n++ {
			_, wrong := parseChain(tt.text(int(n)), now)
			if n > tt.limit.Most != (wrong != nil) ||
				wrong != nil && !strings.Contains(wrong.Detail, tt.limit.Refusal()) {
				t.Errorf("%d of %d: %+v", n, tt.limit.Most, wrong)
			}
		}
	}
	if _, wrong := parsePrivateKey(strings.Repeat("a", int(filelimits.CertificateSize.Most)+1)); wrong == nil ||
		!strings.HasPrefix(wrong.Detail, "The key is larger than 64 KB. Send one private key in PEM") {
		t.Errorf("a long key: %+v", wrong)
	}
}

// FuzzParseChain counts independently.
func FuzzParseChain(f *testing.F) {
	f.Add("-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n", 11)
	f.Fuzz(func(t *testing.T, one string, n int) {
		text := strings.Repeat(one, int(uint(n)%100))
		chain, wrong := parseChain(text, time.Now())
		if wrong == nil && (int64(len(text)) > filelimits.CertificateSize.Most ||
			int64(len(chain)) > filelimits.Certificates.Most) {
			t.Errorf("%d certificates in %d bytes are accepted", len(chain), len(text))
		}
	})
}
