package gateway

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"fmt"

	"postern/core/snapshot"
)

// trust says how the certificate of an environment's upstream is checked, if that isn't the default.
type trust struct {
	own         []*x509.Certificate
	withSystem  bool
	serverName  string // "": the target's host
	fingerprint string // of all of it, in hex
}

// compileTrust returns nil for an environment whose upstream's certificate is checked as by default.
func compileTrust(e *snapshot.Environment) (*trust, error) {
	own, err := e.Upstream.CA.Certificates()
	if err != nil {
		return nil, fmt.Errorf("certificate authorities: %w", err)
	}
	name := ""
	if e.Upstream.ServerName != nil {
		name = *e.Upstream.ServerName
	}
	out := &trust{own: own, withSystem: e.Upstream.CA.TrustsSystem(), serverName: name}
	if len(own) == 0 && out.withSystem && name == "" {
		return nil, nil
	}
	sum := sha256.New()
	for _, one := range own {
		sum.Write(one.Raw)
	}
	fmt.Fprintf(sum, "%t %s", out.withSystem, name)
	out.fingerprint = hex.EncodeToString(sum.Sum(nil))
	return out, nil
}

// id identifies the checks; "" for the default ones.
func (t *trust) id() string {
	if t == nil {
		return ""
	}
	return t.fingerprint
}

// apply has connections with the configuration check the upstream's certificate in this way.
func (t *trust) apply(config *tls.Config) error {
	if t == nil {
		return nil
	}
	if t.serverName != "" {
		config.ServerName = t.serverName
	}
	if len(t.own) > 0 || !t.withSystem {
		roots, err := t.roots(config.RootCAs)
		if err != nil {
			return err
		}
		config.RootCAs = roots
	}
	// A resumed session isn't checked against the authorities again.
	config.ClientSessionCache = nil
	return nil
}

// roots returns the trusted authorities. system has the gateway's, nil for the machine's.
func (t *trust) roots(system *x509.CertPool) (*x509.CertPool, error) {
	roots := x509.NewCertPool()
	if t.withSystem {
		if system == nil {
			var err error
			if system, err = x509.SystemCertPool(); err != nil {
				return nil, fmt.Errorf("certificate authorities of this machine: %w", err)
			}
		}
		roots = system.Clone()
	}
	for _, one := range t.own {
		roots.AddCert(one)
	}
	return roots, nil
}

// secureConfig returns the TLS configuration of connections to a target of the environment. Calls and checks of the
// target use the same, and offer the protocols (ALPN, RFC 7301).
func (g *Gateway) secureConfig(e *environment, host string, protocols ...string) (*tls.Config, error) {
	config := g.secure.Clone()
	_, config.ServerName = addressOf(e.scheme, host)
	config.NextProtos = protocols
	if err := e.trust.apply(config); err != nil {
		return nil, err
	}
	e.proof.present(config)
	return config, nil
}
