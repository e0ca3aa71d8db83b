package bearer

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"postern/testkit/idp"
)

// A verdict holds for its token, its key and a minute. Whether a signature is verified again shows in one that is not
// longer valid, which the product can't have.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	k := idp.KeyOf(jose.EdDSA, "one")
	public, err := newPublicKey(k.Public())
	if err != nil {
		t.Fatal(err)
	}
	again := *public // what another fetch of the same key returns
	now := time.Unix(1_700_000_000, 0)
	sent := func(v *Verifier, token string, now time.Time) *compact {
		var c compact
		if !c.take(token) || !c.parse() {
			t.Fatal("the token is not parsed")
		}
		c.known = v.known.find(&c.sum, now)
		return &c
	}
	tokenOf := func(subject string) string { return k.Sign(t, nil, map[string]any{"sub": subject}) }
	says := &reading{head: header{algorithm: "EdDSA"}}
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
			v := New(nil, nil)
			if !v.signed(sent(v, tokenOf(tt.first), now), says, public, now) {
				t.Fatal("the signature is not valid")
			}
			at := now.Add(tt.after)
			then := sent(v, tokenOf(tt.then), at)
			then.signature = slices.Repeat([]byte{0}, len(then.signature))
			if got := v.signed(then, says, tt.key, at); got != tt.want {
				t.Errorf("without verifying: %v, want %v", got, tt.want)
			}
		})
	}
	v := New(nil, nil)
	for range 2 {
		forged := sent(v, tokenOf("ana"), now)
		forged.signature[0]++
		if v.signed(forged, says, public, now) {
			t.Error("a wrong signature is accepted")
		}
	}
}

// A token's claims are kept with the verdict unless they are long. It is not taken over by a call that reads the same
// token in another way.
func TestVerifier_keptClaims(t *testing.T) {
	t.Parallel()
	k := idp.KeyOf(jose.EdDSA, "one")
	public, err := newPublicKey(k.Public())
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1_700_000_000, 0)
	for name, tt := range map[string]struct {
		note          string
		first, second bool // withOwn
		want          bool
	}{
		"short":                     {"", true, true, true},
		"long":                      {strings.Repeat("a", maxKept), true, true, false},
		"not of ours, then of ours": {"", false, true, false},
		"of ours, then not of ours": {"", true, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			v := New(nil, nil)
			token := k.Sign(t, map[jose.HeaderKey]any{"typ": "at+jwt"},
				map[string]any{"sub": "ana", "tenant": "acme", "note": tt.note})
			readWith := func(withOwn bool) *reading {
				var c compact
				if !c.take(token) {
					t.Fatal("the token is not taken")
				}
				c.known = v.known.find(&c.sum, now)
				says, ok := v.read(&c, withOwn)
				if !ok || !v.signed(&c, says, public, now) {
					t.Fatal("the token is not accepted")
				}
				if (says.claims.own != nil) != withOwn {
					t.Errorf("claims of our own tokens read: %v, want %v", says.claims.own != nil, withOwn)
				}
				return says
			}
			first := readWith(tt.first)
			if got := readWith(tt.second) == first; got != tt.want {
				t.Errorf("kept: %v, want %v", got, tt.want)
			}
		})
	}
}
