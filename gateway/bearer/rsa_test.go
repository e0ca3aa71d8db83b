package bearer

import (
	"crypto/rand"
	"crypto/rsa"
	"math/big"
	"testing"

	"github.com/go-jose/go-jose/v4"
)

func TestNewPublicKey_refusedRSA(t *testing.T) {
	short, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	long, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for name, public := range map[string]rsa.PublicKey{
		"1024 bits":        short.PublicKey,
		"exponent 1":       {N: long.N, E: 1},
		"an even exponent": {N: long.N, E: 65536},
		"exponent 0":       {N: long.N},
		"too large":        {N: long.N, E: 1<<31 + 1},
		"an even modulus":  {N: new(big.Int).Lsh(long.N, 1), E: 65537},
		"far too long":     {N: new(big.Int).SetBit(big.NewInt(1), maxRSA+1, 1), E: 65537},
	} {
		if _, err := newPublicKey(jose.JSONWebKey{Key: &public}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
