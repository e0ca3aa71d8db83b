package contract

import (
	"cmp"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"slices"
	"strings"
)

// UpstreamCA has the authorities that may have issued an upstream's certificate. In a change, a nil member is left
// unchanged. Answers have both members.
type UpstreamCA struct {
	PEM    *string `json:"pem,omitempty" flag:"ca,file" doc:"Certificates of private certificate authorities, in PEM format. At most 16 certificates, and at most 64 KB in total. Only for https targets. Use \"\" for none (the default)" example:"-----BEGIN CERTIFICATE-----…"`
	System *bool   `json:"system,omitempty" flag:"ca-system" doc:"Also accept certificates from the certificate authorities that the gateway's machine trusts. Defaults to true"`
}

// Limits on the certificates in an UpstreamCA, and on the bytes of its PEM.
const (
	MostCAs     = 16
	MostCABytes = 64 << 10
)

// Stated returns the authorities with the defaults of members that aren't set.
func (c UpstreamCA) Stated() UpstreamCA {
	return UpstreamCA{PEM: cmp.Or(c.PEM, new("")), System: cmp.Or(c.System, new(true))}
}

// Over returns the authorities was with the change c applied.
func (c UpstreamCA) Over(was UpstreamCA) UpstreamCA {
	return UpstreamCA{PEM: cmp.Or(c.PEM, was.PEM), System: cmp.Or(c.System, was.System)}
}

// IsSet reports whether there are private authorities.
func (c UpstreamCA) IsSet() bool { return c.PEM != nil && *c.PEM != "" }

// TrustsSystem reports whether the authorities that the gateway's machine trusts are trusted too.
func (c UpstreamCA) TrustsSystem() bool { return c.System == nil || *c.System }

// Why a PEM text isn't a list of certificates. The errors never contain any of the text.
var (
	ErrPrivateKey     = errors.New("the text contains a private key")
	ErrNotCertificate = errors.New("the text isn't a list of X.509 certificates in PEM")
)

// Certificates returns the certificates in their order, without duplicates. Errors: ErrPrivateKey and
// ErrNotCertificate.
func (c UpstreamCA) Certificates() ([]*x509.Certificate, error) {
	if !c.IsSet() {
		return nil, nil
	}
	if strings.Contains(*c.PEM, "PRIVATE KEY") {
		return nil, ErrPrivateKey
	}
	var out []*x509.Certificate
	begun := strings.Count(*c.PEM, "-----BEGIN ")
	for block, rest := pem.Decode([]byte(*c.PEM)); block != nil; block, rest = pem.Decode(rest) {
		begun-- // Decode skips blocks that it can't read
		one, err := x509.ParseCertificate(block.Bytes)
		if block.Type != "CERTIFICATE" || err != nil {
			return nil, ErrNotCertificate
		}
		if !slices.ContainsFunc(out, one.Equal) {
			out = append(out, one)
		}
	}
	if len(out) == 0 || begun != 0 {
		return nil, ErrNotCertificate
	}
	return out, nil
}

// EncodeCertificates encodes certificates as PEM, without any other text.
func EncodeCertificates(list []*x509.Certificate) string {
	var out strings.Builder
	for _, one := range list {
		out.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: one.Raw}))
	}
	return out.String()
}

// The values of Upstream.HostHeader that aren't a host name.
const (
	HostOfTarget = "target"
	HostOfCaller = "caller" // on custom domains; on other addresses, the target's
)

// OwnHost returns the host name that all calls to the upstream have in their Host header, "" if it is the target's or
// the caller's. callers reports whether calls to a custom domain keep it.
func (u Upstream) OwnHost() (name string, callers bool) {
	switch set := *cmp.Or(u.HostHeader, new(HostOfTarget)); set {
	case HostOfTarget, "":
		return "", false
	case HostOfCaller:
		return "", true
	default:
		return set, false
	}
}
