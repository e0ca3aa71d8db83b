package bearer

import (
	"slices"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"postern/testkit/tokenissuer"
)

// A verdict holds for its token, its key and a minute. Whether a signature is verified again shows in one that is no
// longer valid, which the product can't have.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	k := tokenissuer.KeyOf(jose.EdDSA, "one")
	public, err := newPublicKey(k.Public())
	if err != nil {
		t.Fatal(err)
	}
	again := *public // what another fetch of the same key returns
	now := time.Unix(1_700_000_000, 0)
	parsed := func(subject string) *compact {
		var c compact
		if !c.parse(k.Sign(t, nil, map[string]any{"sub": subject})) {
			t.Fatal("the token is not parsed")
		}
		return &c
	}
	for name, tt := range map[string]struct {
		first, then string
		key         *publicKey
		after       time.Duration
		want        bool
	}{
		"the same":          {"ana", "ana", public, 0, true},
		"within the minute": {"ana", "ana", public, time.Minute - 1, true},
		"after it":          {"ana", "ana", public, time.Minute, false},
		"set back":          {"ana", "ana", public, -1, false},
		"another token":     {"ana", "bob", public, 0, false},
		"a fetched key":     {"ana", "ana", &again, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			v := newVerdicts()
			if !v.signed(parsed(tt.first), public, "EdDSA", now) {
				t.Fatal("the signature is not valid")
			}
			then := parsed(tt.then)
			then.signature = slices.Repeat([]byte{0}, len(then.signature))
			if got := v.signed(then, tt.key, "EdDSA", now.Add(tt.after)); got != tt.want {
				t.Errorf("without verifying: %v, want %v", got, tt.want)
			}
		})
	}
	v := newVerdicts()
	forged := parsed("ana")
	forged.signature[0]++
	for range 2 {
		if v.signed(forged, public, "EdDSA", now) {
			t.Error("a wrong signature is accepted")
		}
	}
}
