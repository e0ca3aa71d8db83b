package gateway_test

import (
	"testing"

	"postern/gateway"
)

// A user counts once, by their id, whichever app client they came through.
func TestTokens_limitsOfUser(t *testing.T) {
	told := outcomes{make(chan gateway.Outcome, 1)}
	r := newRig(t, nil, withHosted(), func(_ *rig, o *gateway.Options) { o.Observer = told })
	r.wantCode("a call", r.get("/shop/1.0.0/prod/x", noKey, "Authorization: Bearer service"), 200, "")
	if got := within(t, "the outcome", told.got); got.Owner != "usr_ana" || got.CredentialID != "" {
		t.Errorf("the call counts for %q by %q", got.Owner, got.CredentialID)
	}
}
