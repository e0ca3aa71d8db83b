package kong

import (
	"slices"
	"testing"
	"time"

	"postern/bundle"
	"postern/core/snapshot"
	"postern/testkit/sample"
)

// A probe that address rules refuse with any key proves none.
func TestProbesOfKeys_addressRules(t *testing.T) {
	for name, tt := range map[string]struct {
		rules  snapshot.IPRules
		proven bool
	}{
		"none":          {snapshot.IPRules{}, true},
		"nearby taken":  {snapshot.IPRules{Allow: prefixes("0.0.0.0/0", "::/0")}, true},
		"nearby denied": {snapshot.IPRules{Deny: prefixes("0.0.0.0/0", "::/0")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			in := sampleInput()
			for i := range in.Project.Versions {
				in.Project.Versions[i].Access = snapshot.Access{
					RequestsAuth: snapshot.RequestsAuth{
						Mode:    snapshot.Authenticate,
						Methods: []string{snapshot.APIKey},
						Keyless: snapshot.Reject,
					},
					IP: tt.rules,
				}
			}
			keys, proven := 0, 0
			for _, item := range ledgerOf(t, in) {
				if item.Code == "kong.key.hash" {
					keys++
					proven += min(1, len(item.Probes))
				}
			}
			if keys == 0 || proven > 0 != tt.proven {
				t.Errorf("%d of %d keys have a probe, want some: %v", proven, keys, tt.proven)
			}
		})
	}
}

func TestLedger_hostNameOfUnclaimedProject(t *testing.T) {
	for code, ends := range map[string]time.Time{
		"kong.custom_domains.route_host": {},
		"kong.custom_domains.unclaimed":  time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC),
	} {
		in := sampleInput()
		in.Project.ExpiresAt = ends
		in.Project.Versions[0].Environments[0].Domains = sample.Domains("names.shop.example")
		items := ledgerOf(t, in)
		at := slices.IndexFunc(items, func(i bundle.Item) bool { return i.Name == "names.shop.example" })
		if at < 0 {
			t.Fatal("there is no item of the host name")
		}
		if got := items[at]; got.Code != code || (got.Status == bundle.Exact) != ends.IsZero() {
			t.Errorf("got %s, %s, want %s", got.Code, got.Status, code)
		}
	}
}
