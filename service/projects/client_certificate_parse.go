package projects

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"net/url"
	"slices"
	"strings"
	"time"

	"postern/core/contract"
	"postern/core/filelimits"
	"postern/platform/fault"
	"postern/platform/secrets"
)

const leastRSABits = 2048

// clientPair is a certificate and its key in their stored form: only the certificates,
// and the key in PKCS #8.
type clientPair struct {
	chain string
	key   secrets.Secret
}

// TakesClientCertificate reports whether an environment with the target can present a certificate, which requires TLS.
func TakesClientCertificate(target string) bool {
	u, err := url.Parse(target)
	return err == nil && u.Scheme == "https"
}

func parseClientCertificate(in contract.NewClientCertificate, now time.Time) (clientPair, error) {
	chain, problem := parseChain(in.Certificate, now)
	if problem != nil {
		return clientPair{}, fault.InvalidFields([]fault.Field{*problem})
	}
	key, problem := parsePrivateKey(in.PrivateKey.Reveal())
	if problem != nil {
		return clientPair{}, fault.InvalidFields([]fault.Field{*problem})
	}
	public, ok := key.Public().(interface{ Equal(crypto.PublicKey) bool })
	if !ok || !public.Equal(chain[0].PublicKey) {
		return clientPair{}, fault.InvalidField("/private_key", "key_mismatch", "The key doesn't match the first "+
			"certificate. Send the key for the environment's certificate, and put that certificate first in the chain.")
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return clientPair{}, err
	}
	var out strings.Builder
	for _, one := range chain {
		out.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: one.Raw}))
	}
	sealed := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	return clientPair{chain: out.String(), key: secrets.Secret(sealed)}, nil
}

func parseChain(text string, now time.Time) ([]*x509.Certificate, *fault.Field) {
	wrong := func(code, detail string) ([]*x509.Certificate, *fault.Field) {
		return nil, &fault.Field{Pointer: "/certificate", Code: code, Detail: detail}
	}
	if int64(len(text)) > filelimits.CertificateSize.Most {
		return wrong("invalid_certificate", "The certificate "+filelimits.CertificateSize.Refusal())
	}
	var chain []*x509.Certificate
	for rest := []byte(text); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if strings.HasSuffix(block.Type, "PRIVATE KEY") {
			return wrong("private_key_in_certificate", "This text contains a private key. Send the key in private_key "+
				"instead, because certificates aren't kept secret.")
		}
		one, err := x509.ParseCertificate(block.Bytes)
		if block.Type != "CERTIFICATE" || err != nil {
			return wrong("invalid_certificate", "Send only X.509 certificates in PEM (-----BEGIN CERTIFICATE-----).")
		}
		if chain = append(chain, one); int64(len(chain)) > filelimits.Certificates.Most {
			return wrong("invalid_certificate", "The chain "+filelimits.Certificates.Refusal())
		}
	}
	if len(chain) == 0 {
		return wrong("invalid_certificate", "Send 1 to 10 X.509 certificates in PEM (-----BEGIN CERTIFICATE-----): "+
			"first the environment's own certificate, then its issuers' certificates.")
	}
	leaf := chain[0]
	switch {
	case !leaf.NotAfter.After(now):
		return wrong("certificate_expired", "The certificate expired at "+leaf.NotAfter.UTC().Format(time.RFC3339)+
			". Renew it.")
	case leaf.NotBefore.After(now):
		return wrong("certificate_not_yet_valid", "The certificate isn't valid until "+
			leaf.NotBefore.UTC().Format(time.RFC3339)+". Set it after that.")
	case !forClients(leaf):
		return wrong("not_for_clients", "The certificate isn't for client authentication. Use a certificate with the "+
			"extended key usage clientAuth.")
	}
	return chain, nil
}

// forClients reports whether a certificate may identify a TLS client (RFC 5280, section
// 4.2.1.12). One that names no purpose may.
func forClients(c *x509.Certificate) bool {
	return len(c.ExtKeyUsage)+len(c.UnknownExtKeyUsage) == 0 ||
		slices.Contains(c.ExtKeyUsage, x509.ExtKeyUsageClientAuth) ||
		slices.Contains(c.ExtKeyUsage, x509.ExtKeyUsageAny)
}

func parsePrivateKey(text string) (crypto.Signer, *fault.Field) {
	wrong := func(code, detail string) (crypto.Signer, *fault.Field) {
		return nil, &fault.Field{Pointer: "/private_key", Code: code, Detail: detail}
	}
	const unreadable = "Send one private key in PEM (-----BEGIN PRIVATE KEY-----), without a passphrase."
	if int64(len(text)) > filelimits.CertificateSize.Most {
		return wrong("invalid_private_key", "The key "+filelimits.CertificateSize.Says+". "+unreadable)
	}
	block, rest := pem.Decode([]byte(text))
	if block != nil && block.Type == "EC PARAMETERS" { // openssl ecparam -genkey writes them before the key
		block, _ = pem.Decode(rest)
	}
	if block == nil {
		return wrong("invalid_private_key", unreadable)
	}
	if block.Type == "ENCRYPTED PRIVATE KEY" || strings.Contains(block.Headers["Proc-Type"], "ENCRYPTED") {
		return wrong("encrypted_private_key", "The key has a passphrase. Remove it with `openssl pkey -in key.pem "+
			"-out plain.pem` and send plain.pem. Postern encrypts the key.")
	}
	key, err := decodeKey(block)
	if err != nil {
		return wrong("invalid_private_key", unreadable)
	}
	if !isSupportedKey(key) {
		return wrong("unsupported_private_key", "Use an RSA key of 2048 to 8192 bits, an ECDSA key on P-256, P-384 "+
			"or P-521, or an Ed25519 key.")
	}
	return key.(crypto.Signer), nil
}

func decodeKey(block *pem.Block) (any, error) {
	switch block.Type {
	case "RSA PRIVATE KEY":
		return x509.ParsePKCS1PrivateKey(block.Bytes)
	case "EC PRIVATE KEY":
		return x509.ParseECPrivateKey(block.Bytes)
	default:
		return x509.ParsePKCS8PrivateKey(block.Bytes)
	}
}

func isSupportedKey(key any) bool {
	switch key := key.(type) {
	case *rsa.PrivateKey:
		return key.N.BitLen() >= leastRSABits && key.N.BitLen() <= 4*leastRSABits
	case *ecdsa.PrivateKey:
		return key.Curve != elliptic.P224()
	case ed25519.PrivateKey:
		return true
	default:
		return false
	}
}
