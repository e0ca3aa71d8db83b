package bearer

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	_ "crypto/sha512" // SHA-384 and SHA-512
	"errors"
	"fmt"
	"math/big"

	"github.com/go-jose/go-jose/v4"
)

// algorithm is one that tokens may be signed with (RFC 7518, 3.1; RFC 8037, 3.1). All
// are asymmetric: with HS256 a forger could use the public key as the shared secret,
// and none means no signature at all (RFC 8725, 2.1).
type algorithm struct {
	family family
	hash   crypto.Hash // 0: the text itself is signed
	bits   int         // of the curve
}

type family uint8

const (
	pkcs1 family = iota + 1
	pss
	ecCurve
	edwards
)

var algorithms = map[string]algorithm{
	"RS256": {family: pkcs1, hash: crypto.SHA256},
	"RS384": {family: pkcs1, hash: crypto.SHA384},
	"RS512": {family: pkcs1, hash: crypto.SHA512},
	"PS256": {family: pss, hash: crypto.SHA256},
	"PS384": {family: pss, hash: crypto.SHA384},
	"PS512": {family: pss, hash: crypto.SHA512},
	"ES256": {family: ecCurve, hash: crypto.SHA256, bits: 256},
	"ES384": {family: ecCurve, hash: crypto.SHA384, bits: 384},
	"EdDSA": {family: edwards},
}

// publicKey verifies signatures.
type publicKey struct {
	id        string // kid
	algorithm string // the only one that it supports; "": all of its kind
	rsa       *rsa.PublicKey
	curve     *ecdsa.PublicKey
	edwards   ed25519.PublicKey
}

func newPublicKey(key jose.JSONWebKey) (*publicKey, error) {
	out := &publicKey{id: key.KeyID, algorithm: key.Algorithm}
	switch public := key.Key.(type) {
	case *rsa.PublicKey:
		out.rsa = public
		return out, checkRSA(public)
	case *ecdsa.PublicKey:
		out.curve = public
	case ed25519.PublicKey:
		out.edwards = public
	default:
		return out, errors.New("a key of this type cannot verify tokens")
	}
	return out, nil
}

// maxExponent is the largest public exponent that crypto/rsa accepts.
const maxExponent = 1<<31 - 1

// checkRSA returns an error for a key that crypto/rsa would refuse at every signature, and for one that is too short or
// too long.
func checkRSA(public *rsa.PublicKey) error {
	if bits := public.N.BitLen(); bits < minRSA || bits > maxRSA {
		return fmt.Errorf("the RSA key has %d bits, not %d to %d", bits, minRSA, maxRSA)
	}
	if public.N.Bit(0) == 0 {
		return errors.New("the RSA modulus is even")
	}
	if public.E < 3 || public.E > maxExponent || public.E%2 == 0 {
		return fmt.Errorf("%d is not an RSA public exponent", public.E)
	}
	return nil
}

// supports reports whether a key is for the algorithm of that name. The token must not
// choose an algorithm that the key is not for.
func (k *publicKey) supports(name string) bool {
	if k.algorithm != "" && k.algorithm != name {
		return false
	}
	switch a := algorithms[name]; a.family {
	case pkcs1, pss:
		return k.rsa != nil
	case ecCurve:
		return k.curve != nil && k.curve.Params().BitSize == a.bits
	case edwards:
		return k.edwards != nil
	}
	return false
}

// verify reports whether signature is a valid signature of text by the algorithm of
// that name, which the key must support.
func (k *publicKey) verify(name string, text, signature []byte) bool {
	a := algorithms[name]
	if a.family == edwards {
		return ed25519.Verify(k.edwards, text, signature)
	}
	digester := a.hash.New()
	digester.Write(text)
	var buffer [64]byte
	digest := digester.Sum(buffer[:0])
	switch a.family {
	case pkcs1:
		return rsa.VerifyPKCS1v15(k.rsa, a.hash, digest, signature) == nil
	case pss:
		// The salt is as long as the digest (RFC 7518, 3.5).
		options := &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash}
		return rsa.VerifyPSS(k.rsa, a.hash, digest, signature, options) == nil
	case ecCurve:
		size := a.bits / 8 // of each of the two numbers, with leading zeros (RFC 7518, 3.4)
		if len(signature) != 2*size {
			return false
		}
		r, s := new(big.Int).SetBytes(signature[:size]), new(big.Int).SetBytes(signature[size:])
		return ecdsa.Verify(k.curve, digest, r, s)
	}
	return false
}
