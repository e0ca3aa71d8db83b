package bearer

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"math/big"
	"testing"
)

// fuzzKey is a key pair for FuzzRSAVerify. Its modulus is the product of many 256-bit
// primes instead of two large ones: signatures are verified alike, and signing by the
// Chinese remainder theorem is fast enough for a fuzzer. The primes are derived from
// fixed seeds, so that an input that was found fails again.
type fuzzKey struct {
	public rsa.PublicKey
	primes []*big.Int
}

func newFuzzKey(bits int) *fuzzKey {
	const exponent = 65537
	k := &fuzzKey{public: rsa.PublicKey{N: big.NewInt(1), E: exponent}}
	for i := range bits / 256 {
		seed := sha256.Sum256([]byte{byte(i)})
		seed[0] |= 0xf8  // keeps the product at its full length
		seed[31] |= 0x01 // odd
		prime := new(big.Int).SetBytes(seed[:])
		one := big.NewInt(1)
		for !prime.ProbablyPrime(10) || new(big.Int).Mod(prime, big.NewInt(exponent)).Cmp(one) == 0 {
			prime.Add(prime, big.NewInt(2))
		}
		k.primes = append(k.primes, prime)
		k.public.N.Mul(k.public.N, prime)
	}
	return k
}

// sign returns the signature whose verification yields encoded, whatever that is.
func (k *fuzzKey) sign(encoded []byte) []byte {
	target, e, one := new(big.Int).SetBytes(encoded), big.NewInt(int64(k.public.E)), big.NewInt(1)
	signature := new(big.Int)
	for _, p := range k.primes {
		d := new(big.Int).ModInverse(e, new(big.Int).Sub(p, one))
		residue := new(big.Int).Exp(target, d, p)
		others := new(big.Int).Div(k.public.N, p)
		residue.Mul(residue, new(big.Int).ModInverse(others, p)).Mod(residue, p)
		signature.Add(signature, residue.Mul(residue, others))
	}
	return signature.Mod(signature, k.public.N).FillBytes(make([]byte, k.public.Size()))
}

// The ways in which FuzzRSAVerify makes a signature from its input.
const (
	rawSignature    = iota // raw is the signature
	signedRaw              // raw is what verification of the signature yields
	changedEncoding        // the right encoding with one byte changed, signed
	changedBytes           // the right signature with one byte changed
	plusModulus            // the right signature plus the modulus
	leadingZeros           // the right signature with zeros before it
	cutOff                 // the right signature without its last bytes
	forms
)

// FuzzRSAVerify compares rsaKey.verify with crypto/rsa.
func FuzzRSAVerify(f *testing.F) {
	var keys []*fuzzKey
	var ours []*rsaKey
	for _, bits := range []int{2048, 3072, 4096} {
		k := newFuzzKey(bits)
		if k.public.N.BitLen() != bits {
			f.Fatalf("the modulus has %d bits, want %d", k.public.N.BitLen(), bits)
		}
		own, err := newRSAKey(&k.public)
		if err != nil {
			f.Fatal(err)
		}
		keys, ours = append(keys, k), append(ours, own)
	}
	hashes := []crypto.Hash{crypto.SHA256, crypto.SHA384, crypto.SHA512}
	for size, k := range keys {
		for hash := range hashes {
			add := func(form uint8, at uint16, change byte, raw []byte) {
				f.Add(uint8(size), uint8(hash), []byte("signed"), form, at, change, raw)
			}
			last := uint16(k.public.Size() - 1)
			add(changedEncoding, 0, 0, nil)           // valid
			add(changedEncoding, 0, 1, nil)           // the first byte is not 0
			add(changedEncoding, 1, 3, nil)           // block type 2
			add(changedEncoding, 9, 1, nil)           // padding with a byte that is not 0xff
			add(changedEncoding, last-120, 0xff, nil) // padding, or what follows it
			add(changedEncoding, last, 1, nil)        // another digest
			add(changedBytes, 0, 1, nil)
			add(changedBytes, last, 0x80, nil)
			add(plusModulus, 0, 0, nil)
			add(leadingZeros, 0, 1, nil)
			add(cutOff, 0, 1, nil)
			add(rawSignature, 0, 0, nil)
			add(rawSignature, 0, 0, make([]byte, k.public.Size()))
			add(rawSignature, 0, 0, k.public.N.Bytes())
			add(rawSignature, 0, 0, new(big.Int).Sub(k.public.N, big.NewInt(1)).Bytes())
			add(signedRaw, 0, 0, []byte{1})
		}
	}
	f.Fuzz(func(t *testing.T, size, hash uint8, message []byte, form uint8, at uint16, change byte, raw []byte) {
		which := int(size) % len(keys)
		k, h := keys[which], hashes[int(hash)%len(hashes)]
		digester := h.New()
		digester.Write(message)
		digest := digester.Sum(nil)
		form %= forms
		signature := k.fuzzSignature(form, encodeDigest(nil, k.public.Size(), h, digest), at, change, raw)
		got := ours[which].verify(h, digest, signature)
		want := rsa.VerifyPKCS1v15(&k.public, h, digest, signature) == nil
		if got != want {
			t.Fatalf("%d bits, %v, form %d, signature %x: %v, crypto/rsa %v",
				k.public.N.BitLen(), h, form, signature, got, want)
		}
		if form == changedEncoding && change == 0 && !got {
			t.Fatalf("%d bits, %v: a valid signature is refused", k.public.N.BitLen(), h)
		}
	})
}

func (k *fuzzKey) fuzzSignature(form uint8, encoded []byte, at uint16, change byte, raw []byte) []byte {
	switch form {
	case rawSignature:
		return raw
	case signedRaw:
		return k.sign(raw)
	case changedEncoding:
		encoded[int(at)%len(encoded)] ^= change
		return k.sign(encoded)
	}
	signature := k.sign(encoded)
	switch form {
	case changedBytes:
		signature[int(at)%len(signature)] ^= change
	case plusModulus:
		return new(big.Int).Add(new(big.Int).SetBytes(signature), k.public.N).Bytes()
	case leadingZeros:
		return append(make([]byte, change), signature...)
	case cutOff:
		return signature[:len(signature)-int(change)%len(signature)]
	}
	return signature
}
