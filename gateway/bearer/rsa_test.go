package bearer

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"math/big"
	"testing"
)

// TestVerifyAgreesWithCryptoRSA includes malformed encodings that only the holder of
// the private key can sign.
func TestVerifyAgreesWithCryptoRSA(t *testing.T) {
	for _, bits := range []int{2048, 2056, 3072, 4096} {
		private, err := rsa.GenerateKey(rand.Reader, bits)
		if err != nil {
			t.Fatal(err)
		}
		ours, err := newRSAKey(&private.PublicKey)
		if err != nil {
			t.Fatal(err)
		}
		for hash := range digestInfo {
			digester := hash.New()
			digester.Write([]byte("signed"))
			digest := digester.Sum(nil)
			good, err := rsa.SignPKCS1v15(nil, private, hash, digest)
			if err != nil {
				t.Fatal(err)
			}
			if !ours.verify(hash, digest, good) {
				t.Errorf("%d bits, %v: a good signature is refused", bits, hash)
			}
			for name, signature := range badSignatures(private, hash, digest, good) {
				want := rsa.VerifyPKCS1v15(&private.PublicKey, hash, digest, signature) == nil
				if got := ours.verify(hash, digest, signature); got != want {
					t.Errorf("%d bits, %v, %s: %v, crypto/rsa %v", bits, hash, name, got, want)
				}
				if want {
					t.Errorf("%d bits, %v, %s: accepted by both", bits, hash, name)
				}
			}
		}
	}
}

func badSignatures(private *rsa.PrivateKey, hash crypto.Hash, digest, good []byte) map[string][]byte {
	size := private.Size()
	sign := func(encoded []byte) []byte {
		number := new(big.Int).SetBytes(encoded)
		return number.Exp(number, private.D, private.N).FillBytes(make([]byte, size))
	}
	changed := func(at int, to byte) []byte {
		encoded := encodeDigest(nil, size, hash, digest)
		encoded[at] = to
		return sign(encoded)
	}
	info := append([]byte(digestInfo[hash]), digest...)
	padded := func(ff int, rest []byte) []byte {
		out := append([]byte{0, 1}, bytes.Repeat([]byte{0xff}, ff)...)
		return sign(append(append(out, rest...), make([]byte, max(0, size-len(out)-len(rest)))...)[:size])
	}
	withoutNull := append([]byte{}, info[:2]...)
	withoutNull = append(withoutNull, info[2:15]...)
	withoutNull = append(append(withoutNull, info[17:19]...), digest...)
	withoutNull[1], withoutNull[3] = withoutNull[1]-2, withoutNull[3]-2
	return map[string][]byte{
		"block type 2":                   changed(1, 2),
		"block type 0":                   changed(1, 0),
		"a first byte that is not 0":     sign(append([]byte{0}, bytes.Repeat([]byte{0x7f}, size-1)...)),
		"padding with a hole":            changed(9, 0xfe),
		"no 0 behind the padding":        changed(size-len(info)-1, 0xff),
		"another digest":                 changed(size-1, digest[len(digest)-1]+1),
		"bytes behind the digest":        padded(8, append([]byte{0}, info...)),
		"DigestInfo without its NULL":    padded(size-3-len(withoutNull), append([]byte{0}, withoutNull...)),
		"the digest alone":               padded(size-3-len(digest), append([]byte{0}, digest...)),
		"zero":                           make([]byte, size),
		"one":                            append(make([]byte, size-1), 1),
		"the modulus":                    private.N.FillBytes(make([]byte, size)),
		"one byte short":                 good[:size-1],
		"one byte more":                  append(append([]byte{}, good...), 0),
		"one byte more in front":         append([]byte{0}, good...),
		"nothing":                        {},
		"the signature plus the modulus": new(big.Int).Add(new(big.Int).SetBytes(good), private.N).Bytes(),
		"of another key":                 bytes.Repeat([]byte{0x42}, size),
	}
}

func TestNewRSAKeyRefuses(t *testing.T) {
	short, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	long, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	digest := sha256.Sum256([]byte("signed"))
	for name, public := range map[string]rsa.PublicKey{
		"1024 bits":        short.PublicKey,
		"exponent 1":       {N: long.N, E: 1},
		"an even exponent": {N: long.N, E: 65536},
		"exponent 0":       {N: long.N},
		"too large":        {N: long.N, E: 1<<31 + 1},
		"an even modulus":  {N: new(big.Int).Lsh(long.N, 1), E: 65537},
		"far too long":     {N: new(big.Int).SetBit(big.NewInt(1), maxRSA+1, 1), E: 65537},
	} {
		if key, err := newRSAKey(&public); err == nil {
			t.Errorf("%s: accepted, and verifies %v", name, key.verify(crypto.SHA256, digest[:], make([]byte, 256)))
		}
	}
}
