package gateway

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"fmt"
	"strings"

	"postern/core/snapshot"
)

// clientCertificate is the certificate that an environment's upstream gets in the TLS handshake.
type clientCertificate struct {
	pair        tls.Certificate
	fingerprint string // SHA-256 of the chain, in hex
}

// compileClientCertificate decrypts the private key of an environment's certificate. It returns nil if there is none.
func compileClientCertificate(
	s *snapshot.Project, e snapshot.Environment, unsealer Unsealer,
) (*clientCertificate, error) {
	if e.Certificate == nil {
		return nil, nil
	}
	if !strings.HasPrefix(e.Target, "https://") {
		return nil, fmt.Errorf("client certificate: the target isn't an https URL")
	}
	key, err := unsealer.ClientKey(s, e.ID, *e.Certificate)
	if err != nil {
		return nil, fmt.Errorf("client certificate: %w", err)
	}
	pair, err := tls.X509KeyPair([]byte(e.Certificate.Chain), key)
	if err != nil {
		return nil, fmt.Errorf("client certificate: %w", err)
	}
	sum := sha256.New()
	for _, der := range pair.Certificate {
		sum.Write(der)
	}
	return &clientCertificate{pair, hex.EncodeToString(sum.Sum(nil))}, nil
}

// fingerprint identifies the certificate that calls present; "" for none.
func (p *proof) fingerprint() string {
	if p == nil || p.certificate == nil {
		return ""
	}
	return p.certificate.fingerprint
}

// present adds the certificate to the configuration of an upstream's connections.
func (p *proof) present(config *tls.Config) {
	if p == nil || p.certificate == nil {
		return
	}
	// Certificates would be left out where the upstream names authorities of which none
	// issued the chain, and some name only their root. nginx, and so Kong, always sends it.
	config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		return &p.certificate.pair, nil
	}
	// A resumed session would carry the identity of another environment's certificate.
	config.ClientSessionCache = nil
}
