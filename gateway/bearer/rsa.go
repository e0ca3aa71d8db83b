package bearer

import (
	"crypto"
	"crypto/rsa"
	"crypto/subtle"
	"errors"

	"filippo.io/bigmod"
)

// rsaKey verifies RSASSA-PKCS1-v1_5 signatures (RFC 8017, 8.2.2). crypto/rsa lays
// the modulus out anew for each of them, which is a third of what one costs; here it
// is laid out once for each key. The arithmetic is the same: bigmod is what
// crypto/rsa has within. Nothing in it is secret.
type rsaKey struct {
	modulus  *bigmod.Modulus
	exponent uint
}

// maxExponent is the largest public exponent that crypto/rsa takes.
const maxExponent = 1<<31 - 1

func newRSAKey(public *rsa.PublicKey) (*rsaKey, error) {
	if bits := public.N.BitLen(); bits < minRSA || bits > maxRSA {
		return nil, errors.New("an RSA key of this length does not count")
	}
	if public.N.Bit(0) == 0 {
		return nil, errors.New("an RSA modulus is odd")
	}
	if public.E < 3 || public.E > maxExponent || public.E%2 == 0 {
		return nil, errors.New("this is no public exponent")
	}
	modulus, err := bigmod.NewModulus(public.N.Bytes())
	if err != nil {
		return nil, err
	}
	return &rsaKey{modulus, uint(public.E)}, nil
}

// digestInfo is what stands before a digest (RFC 8017, 9.2, note 1).
var digestInfo = map[crypto.Hash]string{
	crypto.SHA256: "\x30\x31\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\x04\x20",
	crypto.SHA384: "\x30\x41\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x02\x05\x00\x04\x30",
	crypto.SHA512: "\x30\x51\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x03\x05\x00\x04\x40",
}

// verifies tells whether the signature is that of the digest. What it stands for is
// compared whole with what it should be, and never taken apart: readers that skip
// over a part of it have let forgeries through (CVE-2006-4339).
func (k *rsaKey) verifies(hash crypto.Hash, digest, signature []byte) bool {
	size := k.modulus.Size()
	if len(signature) != size {
		return false
	}
	number, err := bigmod.NewNat().SetBytes(signature, k.modulus)
	if err != nil {
		return false // it is not below the modulus
	}
	encoded := bigmod.NewNat().ExpShortVarTime(number, k.exponent, k.modulus).Bytes(k.modulus)
	var space [maxRSA / 8]byte
	return subtle.ConstantTimeCompare(encoded, encodeDigest(space[:0], size, hash, digest)) == 1
}

// encodeDigest is EMSA-PKCS1-v1_5 (RFC 8017, 9.2). A modulus of minRSA bits has
// room for every digest.
func encodeDigest(out []byte, size int, hash crypto.Hash, digest []byte) []byte {
	prefix := digestInfo[hash]
	out = append(out, 0, 1)
	for len(out) < size-1-len(prefix)-len(digest) {
		out = append(out, 0xff)
	}
	out = append(out, 0)
	out = append(out, prefix...)
	return append(out, digest...)
}
