package bearer_test

import (
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"postern/core/policy"
)

// Replicas whose clocks differ get the same tokens: one that its issuer has just issued for ten
// minutes, and one of our own. Each uses its clock, with a minute of leeway; our own tokens end
// without one.
func TestVerify_clocksOfReplicas(t *testing.T) {
	k := keyOf(jose.RS256, "r")
	of := newIssuer(t, k)
	clients := appClients{}
	client := clients.add(t, "app_1", k)
	theirs := k.Sign(t, nil, of.Claims(with("iat", now.Unix()), with("exp", now.Add(10*time.Minute).Unix())))
	ours := k.Sign(t, nil, ownClaims(client))
	v := newVerifier(t)
	for name, tt := range map[string]struct {
		clock        time.Duration // ahead
		theirs, ours policy.Denial
	}{
		"two minutes behind":               {-2 * time.Minute, policy.InvalidToken, policy.InvalidToken},
		"a minute behind":                  {-time.Minute, accepted, accepted},
		"two minutes ahead":                {2 * time.Minute, accepted, accepted},
		"two minutes ahead, near the end":  {11*time.Minute - time.Second, accepted, policy.InvalidToken},
		"two minutes ahead, after the end": {11 * time.Minute, policy.InvalidToken, policy.InvalidToken},
	} {
		t.Run(name, func(t *testing.T) {
			_, denial := verify(v, theirs, now.Add(tt.clock), of.Pair())
			wantDenial(t, "the issuer's token", denial, tt.theirs)
			denial = v.Verify(t.Context(), ours, policy.Issuers{Own: clients}, now.Add(tt.clock), new(policy.Token))
			wantDenial(t, "our own token", denial, tt.ours)
		})
	}
}
