package bearer

import (
	"crypto"
	"crypto/rsa"
	"crypto/subtle"
	"errors"
	"fmt"

	"filippo.io/bigmod"
)

// rsaKey verifies RSASSA-PKCS1-v1_5 signatures (RFC 8017, 8.2.2). crypto/rsa prepares
// the modulus for every signature, which takes a third of the time of a verification;
// rsaKey prepares it once. The arithmetic is the same: crypto/rsa has a copy of bigmod.
// Nothing in a verification is secret. FuzzRSAVerify compares the two.
type rsaKey struct {
	modulus  *bigmod.Modulus
	exponent uint
}

// maxExponent is the largest public exponent that crypto/rsa accepts.
const maxExponent = 1<<31 - 1

func newRSAKey(public *rsa.PublicKey) (*rsaKey, error) {
	if bits := public.N.BitLen(); bits < minRSA || bits > maxRSA {
		return nil, fmt.Errorf("the RSA key has %d bits, not %d to %d", bits, minRSA, maxRSA)
	}
	if public.N.Bit(0) == 0 {
		return nil, errors.New("the RSA modulus is even")
	}
	if public.E < 3 || public.E > maxExponent || public.E%2 == 0 {
		return nil, fmt.Errorf("%d is not an RSA public exponent", public.E)
	}
	modulus, err := bigmod.NewModulus(public.N.Bytes())
	if err != nil {
		return nil, err
	}
	return &rsaKey{modulus, uint(public.E)}, nil
}

// digestInfo is the DER prefix of a digest (RFC 8017, 9.2, note 1).
var digestInfo = map[crypto.Hash]string{
	crypto.SHA256: "\x30\x31\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\x04\x20",
	crypto.SHA384: "\x30\x41\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x02\x05\x00\x04\x30",
	crypto.SHA512: "\x30\x51\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x03\x05\x00\x04\x40",
}

// verify reports whether signature is a valid PKCS #1 v1.5 signature of digest. It
// compares the whole encoded message with the expected one and parses nothing:
// parsers that skipped a part of it accepted forgeries (CVE-2006-4339).
func (k *rsaKey) verify(hash crypto.Hash, digest, signature []byte) bool {
	size := k.modulus.Size()
	if len(signature) != size {
		return false
	}
	number, err := bigmod.NewNat().SetBytes(signature, k.modulus)
	if err != nil {
		return false // not below the modulus
	}
	encoded := bigmod.NewNat().ExpShortVarTime(number, k.exponent, k.modulus).Bytes(k.modulus)
	var buffer [maxRSA / 8]byte
	return subtle.ConstantTimeCompare(encoded, encodeDigest(buffer[:0], size, hash, digest)) == 1
}

// encodeDigest appends the EMSA-PKCS1-v1_5 encoding of digest, size bytes, to out
// (RFC 8017, 9.2). Every digest fits into minRSA bits.
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
