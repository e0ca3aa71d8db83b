package policy_test

import (
	"testing"
	"time"

	"postern/core/policy"
	"postern/core/snapshot"
)

// The log of requests names the owner of a key of the project, whatever the call was refused for. It says nothing about
// any other credential.
func TestDecide_refusedCaller(t *testing.T) {
	known := policy.Caller{Account: "billing", CredentialID: "key_1"}
	for name, tc := range map[string]struct {
		call policy.Call
		want policy.Caller
	}{
		"allowed":                    {call: call()},
		"a frozen key":               {call(state(snapshot.KeyFrozen)), known},
		"a revoked key":              {call(state(snapshot.KeyRevoked)), known},
		"an expired key":             {call(expires(-time.Second)), known},
		"a secret after its grace":   {call(old, grace(-time.Second)), known},
		"a key of a deleted tenant":  {call(tenant("tnt_9")), known},
		"a key of another address":   {call(keyFrom("203.0.113.0/24")), known},
		"an address that is refused": {call(allow("203.0.113.0/24")), known},
		"a key next to a bad token":  {call(alsoTakes(snapshot.JWT), badToken), known},
		"a key of another project":   {call: call(func(c *policy.Call) { c.Key.ProjectID = "prj_2" })},
		"an unknown key":             {call: call(unknown)},
		"two keys":                   {call: call(twice)},
		"no key":                     {call: call(keyless)},
		"a token that is not valid":  {call: call(keyless, alsoTakes(snapshot.JWT), badToken)},
	} {
		t.Run(name, func(t *testing.T) {
			if got := policy.Decide(&tc.call); got.Refused != tc.want {
				t.Errorf("%s is of %+v, want %+v", got.Denial.Code, got.Refused, tc.want)
			}
		})
	}
}

func badToken(c *policy.Call) { c.TokenDenial = policy.InvalidToken }
