package gateway

import (
	"crypto/ed25519"
	"errors"
	"fmt"

	"postern/core/policy"
	"postern/core/snapshot"
)

// Unsealer decrypts the sealed values of a snapshot when it is published, never during a call.
type Unsealer interface {
	// HeaderValue returns the value of a header of the environment.
	HeaderValue(p *snapshot.Project, environmentID string, h snapshot.UpstreamHeader) (string, error)

	// ClientKey returns the private key of the environment's certificate, as PEM.
	ClientKey(p *snapshot.Project, environmentID string, c snapshot.ClientCertificate) ([]byte, error)

	// SigningKey returns the private key with which calls of the project are signed.
	SigningKey(p *snapshot.Project, k snapshot.CallSigningKey) (ed25519.PrivateKey, error)
}

// proof shows an environment's upstream that a call comes from this project. Its values exist in memory only, and are
// never logged.
type proof struct {
	headers       []headerValue
	authorization bool    // Authorization is among the headers
	signer        *signer // nil: calls are not signed

	certificate *clientCertificate // nil: none is presented
}

type headerValue struct{ name, value string }

var errNoUnsealer = errors.New("this gateway can't decrypt upstream credentials")

// compileProof decrypts an environment's upstream credentials. It returns nil if there are none, and the project does
// not sign calls. Calls are not forwarded without credentials that they should carry: a project whose values cannot be
// opened does not compile.
func compileProof(s *snapshot.Project, e snapshot.Environment, signer *signer, unsealer Unsealer) (*proof, error) {
	if len(e.Headers) == 0 && e.Certificate == nil && signer == nil {
		return nil, nil
	}
	if unsealer == nil {
		return nil, errNoUnsealer
	}
	out := &proof{signer: signer}
	for _, h := range e.Headers {
		if !policy.CanSetForUpstream(h.Name) {
			return nil, fmt.Errorf("upstream header %s is reserved", h.Name)
		}
		value, err := unsealer.HeaderValue(s, e.ID, h)
		if err != nil {
			return nil, fmt.Errorf("upstream header %s: %w", h.Name, err)
		}
		if !policy.IsUpstreamHeaderValue(value) {
			return nil, fmt.Errorf("upstream header %s: its value cannot be sent", h.Name)
		}
		out.headers = append(out.headers, headerValue{h.Name, value})
		out.authorization = out.authorization || policy.SameHeader(h.Name, authorizationHeader)
	}
	var err error
	out.certificate, err = compileClientCertificate(s, e, unsealer)
	return out, err
}

// replaces reports whether the caller's field of that name is removed because the environment
// sets it, or because calls are signed. A nil proof replaces none.
func (p *proof) replaces(name string) bool {
	if p == nil {
		return false
	}
	for i := range p.headers {
		if policy.SameHeader(p.headers[i].name, name) {
			return true
		}
	}
	return p.signer != nil && isSignatureHeader(name)
}

// replacesAuthorization reports whether the environment sets Authorization.
func (p *proof) replacesAuthorization() bool { return p != nil && p.authorization }

// lines sets the environment's headers.
func (p *proof) lines(set func(name, value string)) {
	if p == nil {
		return
	}
	for i := range p.headers {
		set(p.headers[i].name, p.headers[i].value)
	}
}
