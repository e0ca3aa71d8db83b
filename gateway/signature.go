package gateway

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"

	"postern/core/policy"
	"postern/core/snapshot"
)

const (
	signatureHeader      = "Signature"
	signatureInputHeader = "Signature-Input"

	// signatureLabel names the gateway's signature among those of a message (RFC 9421,
	// section 4.1).
	signatureLabel = "postern"
)

// signer has the keys with which the calls of a project are signed. A nil signer signs none.
type signer struct{ keys []signingKey } // in the order in which they sign, at least one

type signingKey struct {
	id      string
	public  ed25519.PublicKey
	private ed25519.PrivateKey
	from    time.Time
	until   time.Time // when it leaves the directory; zero: not yet known
}

// compileSigner decrypts the keys of a project. A project whose keys can't be decrypted doesn't compile: upstreams
// would refuse its calls without a signature, or believe others' calls.
func compileSigner(s *snapshot.Project, unsealer Unsealer) (*signer, error) {
	if len(s.CallSigningKeys) == 0 {
		return nil, nil
	}
	if unsealer == nil {
		return nil, errNoUnsealer
	}
	out := &signer{}
	for _, k := range s.CallSigningKeys {
		private, err := unsealer.SigningKey(s, k)
		if err != nil {
			return nil, fmt.Errorf("signing key %s: %w", k.ID, err)
		}
		if len(private) != ed25519.PrivateKeySize || !ed25519.PublicKey(k.Public).Equal(private.Public()) {
			return nil, fmt.Errorf("signing key %s: its public and private keys do not match", k.ID)
		}
		out.keys = append(out.keys, signingKey{k.ID, k.Public, private, k.SignsFrom, k.PublishedUntil})
	}
	return out, nil
}

// at returns the key that signs at a time: the latest one whose time has come. The first one
// signs before its time too, because the clocks of replicas differ.
func (s *signer) at(now time.Time) *signingKey {
	for i := len(s.keys) - 1; i > 0; i-- {
		if !s.keys[i].from.After(now) {
			return &s.keys[i]
		}
	}
	return &s.keys[0]
}

// signs reports whether calls are signed. A nil proof signs none.
func (p *proof) signs() bool { return p != nil && p.signer != nil }

// isSignatureHeader reports whether a field of the caller is about its own signature. The
// gateway's signature replaces it: the upstream would otherwise have to find out which of
// the two is meant.
func isSignatureHeader(name string) bool {
	switch len(name) {
	case len(signatureHeader):
		return policy.SameHeader(name, signatureHeader)
	case len(signatureInputHeader):
		return policy.SameHeader(name, signatureInputHeader) || policy.SameHeader(name, "Signature-Agent")
	}
	return false
}

// signatureLines sets the signature of a call whose project signs: of the forwarded method, path
// and query, and of every identity header. Host and scheme are not covered: a
// load balancer in front of the upstream changes them. The tag names the environment instead,
// so that no upstream can pass a call on to another one of the project.
func (c *call) signatureLines(set func(name, value string)) {
	env := c.route.environment
	if !env.proof.signs() {
		return
	}
	s := newSignature()
	s.cover("@method", c.method)
	s.cover("@path", policy.JoinTarget(env.path, c.route.rest))
	query := c.target.query
	if query == "" {
		query = "?" // RFC 9421, section 2.2.7
	}
	s.cover("@query", query)
	c.identityLines(func(name, value string) {
		if name != authorizationHeader { // a secret, and not an identity header
			s.cover(name, value)
		}
	})
	now := c.gateway.now()
	key := env.proof.signer.at(now)
	input, value := s.sign(key.private, signatureParams{now.Unix(), key.id, "ed25519", env.id})
	set(signatureInputHeader, signatureLabel+"="+input)
	set(signatureHeader, signatureLabel+"=:"+value+":")
}

// signature is a signature base that is being written (RFC 9421, section 2.5).
type signature struct {
	base       []byte
	components []byte // the names in base, quoted, separated by spaces
}

// signatureParams are the parameters of a signature; alg and tag may be empty.
type signatureParams struct {
	created         int64
	keyID, alg, tag string
}

func newSignature() *signature {
	return &signature{base: make([]byte, 0, 1024), components: make([]byte, 0, 256)}
}

// cover adds a component: a derived one, or a header of one line.
func (s *signature) cover(name, value string) {
	if len(s.components) > 0 {
		s.components = append(s.components, ' ')
	}
	start := len(s.components)
	s.components = appendQuoted(s.components, name)
	for i := start; i < len(s.components); i++ {
		if c := s.components[i]; c >= 'A' && c <= 'Z' {
			s.components[i] = c | 0x20
		}
	}
	s.base = append(s.base, s.components[start:]...)
	s.base = append(s.base, ": "...)
	s.base = append(s.base, strings.Trim(value, " \t")...)
	s.base = append(s.base, '\n')
}

// sign returns the value of Signature-Input, and the signature in base64.
func (s *signature) sign(key ed25519.PrivateKey, p signatureParams) (input, value string) {
	s.base = append(s.base, `"@signature-params": `...)
	start := len(s.base)
	s.base = append(s.base, '(')
	s.base = append(s.base, s.components...)
	s.base = append(s.base, ");created="...)
	s.base = strconv.AppendInt(s.base, p.created, 10)
	s.base = append(s.base, ";keyid="...)
	s.base = appendQuoted(s.base, p.keyID)
	if p.alg != "" {
		s.base = append(s.base, ";alg="...)
		s.base = appendQuoted(s.base, p.alg)
	}
	if p.tag != "" {
		s.base = append(s.base, ";tag="...)
		s.base = appendQuoted(s.base, p.tag)
	}
	return string(s.base[start:]), base64.StdEncoding.EncodeToString(ed25519.Sign(key, s.base))
}

// appendQuoted appends a string of a structured field. Names, ids and algorithms have neither
// quotes nor backslashes (RFC 9651, section 3.3.3).
func appendQuoted(dst []byte, text string) []byte {
	dst = append(dst, '"')
	dst = append(dst, text...)
	return append(dst, '"')
}
