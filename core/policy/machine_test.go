package policy_test

import (
	"testing"

	"postern/core/policy"
	"postern/core/snapshot"
)

// TestDecide_machine has the tokens of an app client that calls for itself.
func TestDecide_machine(t *testing.T) {
	const issuer = "https://postern.example/oauth/cli_1"
	robot := snapshot.AppClient{ID: "cli_1", Issuer: issuer, TenantID: "tnt_1", Machine: true}
	changed := func(change func(*snapshot.AppClient)) snapshot.AppClient {
		out := robot
		change(&out)
		return out
	}
	for name, tt := range map[string]struct {
		client  snapshot.AppClient
		keyless string
		want    policy.Denial
	}{
		"of a machine":     {robot, snapshot.Reject, policy.Denial{}},
		"next to an owner": {robot, snapshot.OwnerFallback, policy.Denial{}},
		"frozen": {
			changed(func(c *snapshot.AppClient) { c.Frozen = true }), snapshot.Reject, policy.ClientFrozen,
		},
		"no machine now": {
			changed(func(c *snapshot.AppClient) { c.Machine = false }), snapshot.Reject, policy.InvalidToken,
		},
		"another's tenant": {
			changed(func(c *snapshot.AppClient) { c.TenantID = "tnt_2" }), snapshot.Reject, policy.TokenTenant,
		},
		"deleted": {changed(func(c *snapshot.AppClient) { c.Issuer += "0" }), snapshot.Reject, policy.TokenTenant},
	} {
		t.Run(name, func(t *testing.T) {
			realm := policy.NewRealm(&snapshot.Project{
				ID:            "prj_1",
				FallbackOwner: "fallback-owner",
				Tenants:       []snapshot.Tenant{{ID: "tnt_1", Name: "default"}},
				Clients:       []snapshot.AppClient{tt.client},
			})
			got := policy.Decide(&policy.Call{
				Access: &snapshot.Access{RequestsAuth: snapshot.RequestsAuth{
					Mode:    snapshot.Authenticate,
					Methods: []string{snapshot.JWT},
					Keyless: tt.keyless,
				}},
				Realm: realm,
				Token: &policy.Token{
					Issuer:  issuer,
					Subject: "cli_1",
					Scopes:  []string{"orders:read"},
					Hosted:  policy.Hosted{Client: "cli_1", Carries: snapshot.ServiceToken},
				},
			})
			if got.Denial != tt.want || got.Allow != (tt.want == policy.Denial{}) {
				t.Fatalf("decided %+v, want %+v", got.Denial, tt.want)
			}
			if !got.Allow {
				return
			}
			id := got.Identity
			if id.Owner != "cli_1" || id.ConsumerID != policy.ConsumerID("prj_1", "cli_1") || id.Account() != "cli_1" {
				t.Errorf("the consumer is %q %q, counted for %q", id.Owner, id.ConsumerID, id.Account())
			}
			if id.User != "" {
				t.Errorf("the upstream sees the user %q for a machine", id.User)
			}
			if id.TenantID != "tnt_1" || len(id.Scopes) != 1 {
				t.Errorf("tenant %q, scopes %v", id.TenantID, id.Scopes)
			}
		})
	}
}
