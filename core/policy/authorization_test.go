package policy_test

import (
	"testing"

	"postern/core/policy"
	"postern/core/snapshot"
)

// TestDecide_authorization checks that a call without an accepted credential learns what its Authorization has.
func TestDecide_authorization(t *testing.T) {
	key, err := policy.NewKey("pst", "prod")
	if err != nil {
		t.Fatal(err)
	}
	tokens := func(c *policy.Call) { c.Access.Methods = []string{snapshot.JWT} }
	authorization := func(line string) func(*policy.Call) { return func(c *policy.Call) { c.Authorization = line } }
	for line, want := range map[string][3]policy.Denial{ // with keys, with both, with tokens alone
		"":                     {policy.CredentialsRequired, policy.EitherRequired, policy.TokenRequired},
		"Bearer " + key:        {policy.KeyInAuthorization, policy.KeyInAuthorization, policy.TokenRequired},
		"bearer\t" + key + " ": {policy.KeyInAuthorization, policy.KeyInAuthorization, policy.TokenRequired},
		key:                    {policy.KeyInAuthorization, policy.KeyInAuthorization, policy.TokenRequired},
		"ApiKey " + key:        {policy.KeyInAuthorization, policy.KeyInAuthorization, policy.TokenRequired},
		"Bearer a.b.c":         {policy.TokensNotAccepted, policy.EitherRequired, policy.TokenRequired},
		"Bearer " + key[1:]:    {policy.TokensNotAccepted, policy.EitherRequired, policy.TokenRequired},
		"Bearer":               {policy.CredentialsRequired, policy.EitherRequired, policy.TokenRequired},
		"Basic YTpi":           {policy.CredentialsRequired, policy.EitherRequired, policy.TokenRequired},
	} {
		for i, methods := range []func(*policy.Call){func(*policy.Call) {}, alsoTakes(snapshot.JWT), tokens} {
			c := call(keyless, methods, authorization(line))
			if got := policy.Decide(&c); got.Allow || got.Denial != want[i] {
				t.Errorf("%q to a version with %v: %+v, want %+v", line, c.Access.Methods, got.Denial, want[i])
			}
		}
	}
}

func TestMisplacedKey(t *testing.T) {
	for _, tc := range []struct {
		methods []string
		want    policy.Denial
	}{
		{[]string{snapshot.APIKey, snapshot.JWT}, policy.KeyInAuthorization},
		{[]string{snapshot.Opaque}, policy.KeysNotAccepted},
	} {
		access := snapshot.Access{RequestsAuth: snapshot.RequestsAuth{Methods: tc.methods}}
		if got := policy.MisplacedKey(&access); got != tc.want {
			t.Errorf("with %v: %+v", tc.methods, got)
		}
	}
}

func TestDenial_nameScope(t *testing.T) {
	want := `{"message":"This route requires a scope that the token doesn't have: orders:read.",` +
		`"code":"insufficient_scope"}`
	if got := string(policy.TokenScope.NameScope("orders:read").Body()); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := policy.InsufficientScope.NameScope(""); got != policy.InsufficientScope {
		t.Errorf("without a scope: %+v", got)
	}
}
