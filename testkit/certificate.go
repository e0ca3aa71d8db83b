package testkit

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"testing"
	"time"
)

// Certificate creates a certificate for the names and 127.0.0.1, and its key, both
// in PEM. It is its own root.
func Certificate(t testing.TB, names ...string) (cert, key []byte) {
	t.Helper()
	return CertificateUntil(t, time.Now().Add(24*time.Hour), names...)
}

// CertificateUntil is Certificate with the time at which the certificate ends.
func CertificateUntil(t testing.TB, end time.Time, names ...string) (cert, key []byte) {
	t.Helper()
	return CertificateFrom(t, time.Now().Add(-time.Hour), end, names...)
}

// CertificateFrom is CertificateUntil with the time from which the certificate is valid.
func CertificateFrom(t testing.TB, begin, end time.Time, names ...string) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: names[0]},
		DNSNames:              names,
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore:             begin,
		NotAfter:              end,
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{
		Type:  "CERTIFICATE",
		Bytes: der,
	}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
}
