package bearer_test

import (
	"testing"

	"github.com/go-jose/go-jose/v4"

	"postern/core/policy"
	"postern/core/snapshot"
)

func BenchmarkVerify(b *testing.B) {
	for _, algorithm := range []jose.SignatureAlgorithm{jose.RS256, jose.ES256, jose.EdDSA} {
		b.Run(string(algorithm), func(b *testing.B) {
			k := keyOf(algorithm, "bench")
			of := newIssuer(b, k)
			v, token, pairs := newVerifier(b), k.Sign(b, nil, of.Claims()), []snapshot.TokenIssuer{of.Pair()}
			var into policy.Token
			b.ReportAllocs()
			for b.Loop() {
				denial := v.Verify(b.Context(), token, policy.Issuers{Named: pairs}, now, &into)
				if denial != accepted {
					b.Fatal(denial)
				}
			}
		})
	}
}

func BenchmarkVerifyOwn(b *testing.B) {
	for _, algorithm := range []jose.SignatureAlgorithm{jose.RS256, jose.ES256, jose.EdDSA} {
		b.Run(string(algorithm), func(b *testing.B) {
			known, k := appClients{}, keyOf(algorithm, "sig_1")
			v, token := offline(b), k.Sign(b, nil, ownClaims(known.add(b, "cli_1", k)))
			var into policy.Token
			b.ReportAllocs()
			for b.Loop() {
				if denial := v.Verify(b.Context(), token, policy.Issuers{Own: known}, now, &into); denial != accepted {
					b.Fatal(denial)
				}
			}
		})
	}
}
