package conformance

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"postern/testkit/scripted"
)

// secureUpstreams are upstreams that speak TLS, each with another certificate.
type secureUpstreams struct {
	byName, byAddress, commonName, otherName, otherIssuer string // targets

	roots *x509.CertPool // of ours
	file  string         // the same in PEM, for Kong
	all   []*scripted.Upstream
}

func newSecureUpstreams(t *testing.T) *secureUpstreams {
	t.Helper()
	ours, others := newAuthority(t), newAuthority(t)
	s := &secureUpstreams{roots: x509.NewCertPool(), file: filepath.Join(t.TempDir(), "roots.pem")}
	s.roots.AddCert(ours.certificate)
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ours.certificate.Raw})
	if err := os.WriteFile(s.file, block, 0o644); err != nil {
		t.Fatal(err)
	}
	start := func(host string, by authority, leaf x509.Certificate) string {
		up := scripted.Start(t, &tls.Config{Certificates: []tls.Certificate{by.issue(t, leaf)},
			MinVersion: tls.VersionTLS12})
		s.all = append(s.all, up)
		return "https://" + net.JoinHostPort(host, strconv.Itoa(up.Port))
	}
	localhost := x509.Certificate{DNSNames: []string{"localhost"}}
	s.byName = start("localhost", ours, localhost)
	s.byAddress = start("127.0.0.1", ours, x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}})
	s.commonName = start("localhost", ours, x509.Certificate{Subject: pkix.Name{CommonName: "localhost"}})
	s.otherName = start("localhost", ours, x509.Certificate{DNSNames: []string{"other.example"}})
	s.otherIssuer = start("localhost", others, localhost)
	return s
}

func (s *secureUpstreams) take() []seen {
	var out []seen
	for _, up := range s.all {
		out = append(out, up.Take()...)
	}
	return out
}

type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	key := newKey(t)
	template := x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "conformance"},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(24 * time.Hour),
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return authority{certificate, key}
}

// issue creates a server's certificate with the names of leaf.
func (a authority) issue(t *testing.T, leaf x509.Certificate) tls.Certificate {
	t.Helper()
	key := newKey(t)
	leaf.SerialNumber = big.NewInt(2)
	leaf.NotBefore, leaf.NotAfter = a.certificate.NotBefore, a.certificate.NotAfter
	leaf.KeyUsage, leaf.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	der, err := x509.CreateCertificate(rand.Reader, &leaf, a.certificate, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}
