package policy_test

import (
	"encoding/json"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"postern/core/policy"
	"postern/core/snapshot"
)

var (
	now      = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	withKeys = snapshot.Access{RequestsAuth: snapshot.RequestsAuth{
		Mode:    snapshot.Authenticate,
		Methods: []string{snapshot.APIKey},
		Keyless: snapshot.Reject,
	}}
	shop = snapshot.Project{
		ID: "prj_1", ProductID: "prd_1", FallbackOwner: "fallback-owner",
		KeyTypes: []snapshot.KeyType{{Name: "partner", Scopes: []string{"shop:read"}}},
		Tenants: []snapshot.Tenant{
			{ID: "tnt_1", Name: "default"},
			{ID: "tnt_acme", Name: "acme"},
			{ID: "tnt_left", Name: "left", Detached: true},
		},
		Barred: []snapshot.BarredUser{{ID: "usr_deleted", Deleted: true}, {ID: "usr_frozen"}},
	}
	keyOwner = policy.Identity{
		ConsumerID: policy.ConsumerID("prj_1", "billing"), Owner: "billing", CredentialID: "key_1",
		Scopes: []string{"read", "write"}, TenantID: "tnt_1",
	}
	anonymous = policy.Identity{}
	partner   = policy.Identity{
		ConsumerID:   keyOwner.ConsumerID,
		Owner:        "billing",
		CredentialID: "key_1",
		Scopes:       []string{"shop:read"},
		TenantID:     "tnt_1",
	}
	fallbackOwner = policy.Identity{ConsumerID: policy.ConsumerID("prj_1", "fallback-owner"), Owner: "fallback-owner"}
)

// call presents one valid key to a version that requires one, and applies the edits.
func call(edits ...func(*policy.Call)) policy.Call {
	access := withKeys
	c := policy.Call{
		Access:      &access,
		Realm:       policy.NewRealm(&shop),
		Environment: "prod",
		KeyLines:    1,
		Now:         now,
		RemoteIP:    netip.MustParseAddr("::ffff:192.0.2.7"),
		Key: &snapshot.Key{
			ID:        "key_1",
			ProjectID: "prj_1",
			Owner:     "billing",
			Scopes:    []string{"read", "write"},
			TenantID:  "tnt_1",
			State:     snapshot.KeyActive,
		},
	}
	for _, edit := range edits {
		edit(&c)
	}
	return c
}

func keyless(c *policy.Call) { c.KeyLines, c.Key = 0, nil }
func unknown(c *policy.Call) { c.Key = nil }
func twice(c *policy.Call)   { c.KeyLines = 2 }
func alsoTakes(tokens string) func(*policy.Call) {
	return func(c *policy.Call) { c.Access.Methods = []string{snapshot.APIKey, tokens} }
}
func passthrough(c *policy.Call)           { c.Access.Mode = snapshot.Passthrough }
func noMethods(c *policy.Call)             { c.Access.Methods = nil }
func fallback(c *policy.Call)              { c.Access.Keyless = snapshot.OwnerFallback }
func old(c *policy.Call)                   { c.OldSecret = true }
func owner(name string) func(*policy.Call) { return func(c *policy.Call) { c.Key.Owner = name } }
func state(s snapshot.KeyState) func(*policy.Call) {
	return func(c *policy.Call) { c.Key.State = s }
}
func expires(in time.Duration) func(*policy.Call) {
	return func(c *policy.Call) { c.Key.ExpiresAt = now.Add(in) }
}
func grace(in time.Duration) func(*policy.Call) {
	return func(c *policy.Call) { c.Key.GraceEndsAt = now.Add(in) }
}
func environment(name string) func(*policy.Call) {
	return func(c *policy.Call) { c.Key.Environment = name }
}

func formerly(name string) func(*policy.Call) { return func(c *policy.Call) { c.Former = name } }

// ofProduct changes the key to one of another project of the product, of that project's default tenant.
func ofProduct(c *policy.Call) {
	c.Key.ProjectID, c.Key.ProductID, c.Key.KeyType = "prj_2", "prd_1", "partner"
	c.Key.Tenant, c.Key.TenantID = "default", "tnt_of_prj_2"
}
func tenant(id string) func(*policy.Call) { return func(c *policy.Call) { c.Key.TenantID = id } }
func keyFrom(ranges ...string) func(*policy.Call) {
	return func(c *policy.Call) { c.Key.AllowedIPs = prefixes(ranges) }
}
func allow(ranges ...string) func(*policy.Call) {
	return func(c *policy.Call) { c.Access.IP.Allow = prefixes(ranges) }
}
func denyFrom(ranges ...string) func(*policy.Call) {
	return func(c *policy.Call) { c.Access.IP.Deny = prefixes(ranges) }
}

func prefixes(ranges []string) (out []netip.Prefix) {
	for _, one := range ranges {
		out = append(out, netip.MustParsePrefix(one))
	}
	return out
}

// decision is a call with what Decide answers to it.
type decision struct {
	name     string
	call     policy.Call
	denial   policy.Denial // zero: allowed
	identity policy.Identity
	passKey  bool
}

func checkDecisions(t *testing.T, decisions []decision) {
	t.Helper()
	for _, tc := range decisions {
		t.Run(tc.name, func(t *testing.T) {
			want := policy.Decision{
				Allow:    tc.denial == policy.Denial{},
				Denial:   tc.denial,
				Identity: tc.identity,
				StripKey: !tc.passKey,
			}
			got := policy.Decide(&tc.call)
			got.Refused = policy.Caller{} // see TestDecide_refusedCaller
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("decision (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecide(t *testing.T) {
	checkDecisions(t, []decision{
		{name: "a good key", call: call(), identity: keyOwner},
		{name: "a good key, twice", call: call(twice), denial: policy.InvalidKey},
		{name: "an unknown key", call: call(unknown), denial: policy.InvalidKey},
		{name: "no key", call: call(keyless), denial: policy.CredentialsRequired},
		{name: "neither key nor token", call: call(keyless, alsoTakes(snapshot.JWT)), denial: policy.EitherRequired},
		{
			name:   "neither key nor opaque token",
			call:   call(keyless, alsoTakes(snapshot.Opaque)),
			denial: policy.EitherRequired,
		},
		{
			name:   "a key of another project",
			call:   call(func(c *policy.Call) { c.Key.ProjectID = "prj_2" }),
			denial: policy.InvalidKey,
		},
	})
}

func TestDecide_keyState(t *testing.T) {
	checkDecisions(t, []decision{
		{name: "a frozen key", call: call(state(snapshot.KeyFrozen)), denial: policy.KeyFrozen},
		{name: "a revoked key", call: call(state(snapshot.KeyRevoked)), denial: policy.InvalidKey},
		{name: "a key in no known state", call: call(state("")), denial: policy.InvalidKey},
		{name: "a key that expires later", call: call(expires(time.Nanosecond)), identity: keyOwner},
		{name: "a key that expires now", call: call(expires(0)), denial: policy.InvalidKey},
		{
			name:   "a key that expired, frozen",
			call:   call(expires(-time.Hour), state(snapshot.KeyFrozen)),
			denial: policy.InvalidKey,
		},
		{name: "a key of this environment", call: call(environment("prod")), identity: keyOwner},
		{name: "a key of another environment", call: call(environment("dev")), denial: policy.InvalidKey},
		{name: "a key of its former name", call: call(environment("dev"), formerly("dev")), identity: keyOwner},
		{
			name:   "a key of neither name",
			call:   call(environment("staging"), formerly("dev")),
			denial: policy.InvalidKey,
		},
		{
			name:   "a key of another environment, frozen",
			call:   call(environment("dev"), state(snapshot.KeyFrozen)),
			denial: policy.InvalidKey,
		},
	})
}

func TestDecide_rotation(t *testing.T) {
	checkDecisions(t, []decision{
		{name: "the old secret within its grace", call: call(old, grace(time.Second)), identity: keyOwner},
		{name: "the old secret when its grace ends", call: call(old, grace(0)), denial: policy.InvalidKey},
		{name: "the old secret without a grace", call: call(old), denial: policy.InvalidKey},
		{name: "the new secret after the grace", call: call(grace(-time.Hour)), identity: keyOwner},
		{
			name:   "the old secret of a frozen key, grace over",
			call:   call(old, grace(0), state(snapshot.KeyFrozen)),
			denial: policy.InvalidKey,
		},
		{
			name:   "the old secret of a frozen key, within grace",
			call:   call(old, grace(time.Hour), state(snapshot.KeyFrozen)),
			denial: policy.KeyFrozen,
		},
	})
}

func TestDecide_productAndTenant(t *testing.T) {
	ofAcme := keyOwner
	ofAcme.TenantID = "tnt_acme"
	checkDecisions(t, []decision{
		{name: "a key of the product", call: call(ofProduct), identity: partner},
		{
			name:   "a key of another product",
			call:   call(ofProduct, func(c *policy.Call) { c.Key.ProductID = "prd_2" }),
			denial: policy.InvalidKey,
		},
		{
			name:   "a key of the product, of a type this project does not have",
			call:   call(ofProduct, func(c *policy.Call) { c.Key.KeyType = "staff" }),
			denial: policy.InvalidKey,
		},
		{
			name:   "a key without a product, where there is none either",
			call:   call(ofProduct, func(c *policy.Call) { c.Key.ProductID, c.Realm.ProductID = "", "" }),
			denial: policy.InvalidKey,
		},
		{name: "a key of a tenant served here", call: call(tenant("tnt_acme")), identity: ofAcme},
		{name: "a key of a tenant not served here", call: call(tenant("tnt_else")), denial: policy.WrongTenant},
		{name: "a key of a tenant no longer served here", call: call(tenant("tnt_left")), denial: policy.WrongTenant},
		{
			name:   "a key of a tenant not served here, frozen",
			call:   call(tenant("tnt_else"), state(snapshot.KeyFrozen)),
			denial: policy.KeyFrozen,
		},
		{
			name:   "a key of the product, of a tenant not served here",
			call:   call(ofProduct, func(c *policy.Call) { c.Key.Tenant, c.Key.TenantID = "else", "tnt_else" }),
			denial: policy.WrongTenant,
		},
	})
}

func TestDecide_barredUser(t *testing.T) {
	ofDeleted := keyOwner
	ofDeleted.ConsumerID, ofDeleted.Owner = policy.ConsumerID("prj_1", "usr_deleted"), "usr_deleted"
	checkDecisions(t, []decision{
		{name: "a key of a frozen user", call: call(owner("usr_frozen")), denial: policy.UserFrozen},
		{
			name:   "a key of a frozen user, frozen",
			call:   call(owner("usr_frozen"), state(snapshot.KeyFrozen)),
			denial: policy.KeyFrozen,
		},
		{
			name:   "a key of a frozen user, expired",
			call:   call(owner("usr_frozen"), expires(0)),
			denial: policy.InvalidKey,
		},
		{
			name:   "a key of a frozen user, from another address",
			call:   call(owner("usr_frozen"), keyFrom("198.51.100.0/24")),
			denial: policy.UserFrozen,
		},
		{
			name:   "a key of a frozen user, where keys are optional",
			call:   call(owner("usr_frozen"), passthrough),
			denial: policy.UserFrozen,
		},
		{name: "a key that names a deleted user", call: call(owner("usr_deleted")), identity: ofDeleted},
	})
}

func TestDecide_address(t *testing.T) {
	known := policy.Identity{TenantID: "tnt_1"} // whose CORS answers the refusal
	checkDecisions(t, []decision{
		{name: "a key used from an allowed address", call: call(keyFrom("192.0.2.0/24")), identity: keyOwner},
		{
			name:     "a key used from another address",
			call:     call(keyFrom("192.0.3.0/24", "2001:db8::/32")),
			denial:   policy.IPDenied,
			identity: known,
		},
		{
			name:     "a key used from an unknown address",
			call:     call(keyFrom("0.0.0.0/0", "::/0"), func(c *policy.Call) { c.RemoteIP = netip.Addr{} }),
			denial:   policy.IPDenied,
			identity: known,
		},
		{
			name:   "an unknown key from another address",
			call:   call(unknown, allow("192.0.3.0/24")),
			denial: policy.InvalidKey,
		},
		{name: "an address that is allowed", call: call(allow("192.0.3.0/24", "192.0.2.7/32")), identity: keyOwner},
		{name: "an address that is not allowed", call: call(allow("192.0.3.0/24")), denial: policy.IPDenied,
			identity: known},
		{
			name:     "an address that is denied",
			call:     call(allow("192.0.2.0/24"), denyFrom("192.0.2.7/32")),
			denial:   policy.IPDenied,
			identity: known,
		},
		{name: "an address that is not denied", call: call(denyFrom("192.0.2.8/32")), identity: keyOwner},
		{
			name:   "an address denied to those without a key",
			call:   call(passthrough, noMethods, keyless, denyFrom("192.0.2.7/32")),
			denial: policy.IPDenied,
		},
	})
}

func TestDecide_passthrough(t *testing.T) {
	checkDecisions(t, []decision{
		{
			name:     "passthrough without methods, no key",
			call:     call(passthrough, noMethods, keyless),
			identity: anonymous,
			passKey:  true,
		},
		{
			name:     "passthrough without methods, any key",
			call:     call(passthrough, noMethods, unknown),
			identity: anonymous,
			passKey:  true,
		},
		{name: "passthrough with keys, no key", call: call(passthrough, keyless), identity: anonymous},
		{name: "passthrough with keys, a good key", call: call(passthrough), identity: keyOwner},
		{name: "passthrough with keys, an unknown key", call: call(passthrough, unknown), denial: policy.InvalidKey},
	})
}

func TestDecide_fallbackOwner(t *testing.T) {
	checkDecisions(t, []decision{
		{name: "fallback, no key", call: call(fallback, keyless), identity: fallbackOwner},
		{name: "fallback, a good key", call: call(fallback), identity: keyOwner},
		{name: "fallback, an unknown key", call: call(fallback, unknown), denial: policy.InvalidKey},
		{name: "fallback in passthrough, no key", call: call(fallback, passthrough, keyless), identity: fallbackOwner},
		{
			name:   "fallback without an owner",
			call:   call(fallback, keyless, func(c *policy.Call) { c.Realm.FallbackOwner = "" }),
			denial: policy.CredentialsRequired,
		},
	})
}

func TestDecide_failClosed(t *testing.T) {
	checkDecisions(t, []decision{
		{name: "authenticate without methods fails closed", call: call(noMethods), denial: policy.CredentialsRequired},
		{
			name:   "an unknown mode fails closed",
			call:   call(noMethods, func(c *policy.Call) { c.Access.Mode = "" }),
			denial: policy.CredentialsRequired,
		},
		{
			name:   "an unknown mode with keys fails closed",
			call:   call(keyless, func(c *policy.Call) { c.Access.Mode = "open" }),
			denial: policy.CredentialsRequired,
		},
	})
}

func TestDenials_json(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range policy.Denials() {
		var body map[string]string
		if err := json.Unmarshal(d.Body(), &body); err != nil {
			t.Fatalf("%s: body %s: %v", d.Code, d.Body(), err)
		}
		if diff := cmp.Diff(map[string]string{"message": d.Message, "code": d.Code}, body); diff != "" {
			t.Errorf("%s (-want +got):\n%s", d.Code, diff)
		}
		if seen[d.Message] {
			t.Errorf("%s: listed twice", d.Code)
		}
		if d.Status < 400 {
			t.Errorf("%s: status %d", d.Code, d.Status)
		}
		if (d.Challenge() != "") != (d.Status == 401 || d == policy.TokenScope) {
			t.Errorf("%s: status %d with the challenge %q", d.Code, d.Status, d.Challenge())
		}
		seen[d.Message] = true
	}
}
