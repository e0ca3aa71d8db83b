package bearer_test

import (
	"testing"

	"github.com/go-jose/go-jose/v4"

	"postern/core/diagnosis"
	"postern/testkit/reports"
)

// Anyone may have any number of issuers tested: a test must not add to what the verifier holds.
func TestInspect_statelessness(t *testing.T) {
	key := keyOf(jose.RS256, "r")
	of, v := newIssuer(t, key), newVerifier(t)
	for range 2 {
		got := v.Inspect(t.Context(), of.Pair(), key.Sign(t, nil, of.Claims()), now)
		reports.WantStep(t, got, "decision", diagnosis.Pass, "accepts the token")
		reports.WantStep(t, got, "cache", diagnosis.Skip, "hasn't needed the keys yet")
	}
}
