package policy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/testkit"
)

// providerTokenCases change the project after the token was introspected.
var providerTokenCases = map[string]struct {
	change func(*snapshot.Project)
	denial policy.Denial
	gets   policy.Authorization
}{
	"unchanged": {
		change: func(*snapshot.Project) {},
		gets:   policy.KeepAuthorization,
	},
	"an ID token": {
		change: func(p *snapshot.Project) { firstProvider(p).UpstreamToken = snapshot.ProviderIDToken },
		gets:   policy.KeepAuthorization,
	},
	"nothing for upstream": {
		change: func(p *snapshot.Project) { firstProvider(p).UpstreamToken = snapshot.NoToken },
		gets:   policy.DropAuthorization,
	},
	"tokens of ours now": {
		change: func(p *snapshot.Project) { firstProvider(p).UpstreamToken = snapshot.ServiceToken },
		denial: policy.InvalidToken,
	},
	"no provider": {
		change: func(p *snapshot.Project) { p.Clients[0].Providers = nil },
		denial: policy.InvalidToken,
	},
	"no app client": {
		change: func(p *snapshot.Project) { p.Clients = nil },
		denial: policy.TokenTenant,
	},
	"no tenant": {
		change: func(p *snapshot.Project) { p.Tenants = nil },
		denial: policy.TokenTenant,
	},
	"frozen": {
		change: func(p *snapshot.Project) { p.Barred = []snapshot.BarredUser{{ID: "usr_1"}} },
		denial: policy.UserFrozen,
	},
	"deleted": {
		change: func(p *snapshot.Project) { p.Barred = []snapshot.BarredUser{{ID: "usr_1", Deleted: true}} },
		denial: policy.InvalidToken,
	},
}

func firstProvider(p *snapshot.Project) *snapshot.Provider { return &p.Clients[0].Providers[0] }

func projectWithProvider() *snapshot.Project {
	return &snapshot.Project{
		ID:      "prj_1",
		Tenants: []snapshot.Tenant{{ID: "tnt_1", Name: snapshot.DefaultTenant}},
		Clients: []snapshot.AppClient{{
			ID:       "cli_1",
			Issuer:   "https://postern.example/oauth/cli_1",
			TenantID: "tnt_1",
			Providers: []snapshot.Provider{{
				ID:            "idp_1",
				Enabled:       true,
				ClientToken:   snapshot.ProviderToken,
				UpstreamToken: snapshot.ProviderAccessToken,
			}},
		}},
	}
}

// callWithProviderToken presents an introspected token of the provider of p.
func callWithProviderToken(p *snapshot.Project) *policy.Call {
	return &policy.Call{
		Realm: policy.NewRealm(p),
		Access: &snapshot.Access{RequestsAuth: snapshot.RequestsAuth{
			Mode:    snapshot.Authenticate,
			Methods: []string{snapshot.JWT},
			Keyless: snapshot.Reject,
		}},
		Token: &policy.Token{
			Issuer:  "https://postern.example/oauth/cli_1",
			Subject: "usr_1",
			Hosted: policy.Hosted{
				Introspected: true,
				Client:       "cli_1",
				Provider:     "idp_1",
				Groups:       []string{"staff"},
			},
		},
	}
}

// A provider's own token is checked against the present state of the project.
func TestDecide_providerToken(t *testing.T) {
	for name, tc := range testkit.ByName(providerTokenCases) {
		t.Run(name, func(t *testing.T) {
			p := projectWithProvider()
			tc.change(p)
			d := policy.Decide(callWithProviderToken(p))
			if d.Denial != tc.denial {
				t.Fatalf("denial %v, want %v", d.Denial, tc.denial)
			}
			if want := tc.denial == (policy.Denial{}); d.Allow != want {
				t.Fatalf("allowed %v, want %v", d.Allow, want)
			}
			if !d.Allow {
				return
			}
			if d.Authorization != tc.gets {
				t.Errorf("authorization %v, want %v", d.Authorization, tc.gets)
			}
			if d.Identity.User != "usr_1" {
				t.Errorf("user %q", d.Identity.User)
			}
			if d.Identity.TenantID != "tnt_1" {
				t.Errorf("tenant %q", d.Identity.TenantID)
			}
		})
	}
}

func TestNewIntrospectors(t *testing.T) {
	on := snapshot.Provider{ID: "idp_on", Enabled: true, ClientToken: snapshot.ProviderToken}
	off := snapshot.Provider{ID: "idp_off", ClientToken: snapshot.ProviderToken}
	ours := snapshot.Provider{ID: "idp_ours", Enabled: true, ClientToken: snapshot.ServiceToken}
	const own, pair, other = "https://postern.example/oauth/cli_1", "https://pair.example", "https://other.example"
	p := &snapshot.Project{Clients: []snapshot.AppClient{{
		ID:        "cli_1",
		Issuer:    own,
		Providers: []snapshot.Provider{off, ours, on},
	}}}
	for name, tc := range map[string]struct {
		project   *snapshot.Project
		method    string
		none      bool
		endpoint  string
		providers []string
		verified  []string // issuers, of the three above
	}{
		"keys alone":           {project: p, method: snapshot.APIKey, none: true},
		"jwt without provider": {project: &snapshot.Project{}, method: snapshot.JWT, none: true},
		"jwt": {
			project:   p,
			method:    snapshot.JWT,
			providers: []string{"idp_on"},
			verified:  []string{own, pair},
		},
		"opaque": {
			project:  p,
			method:   snapshot.Opaque,
			endpoint: "ver_1",
			verified: []string{own},
		},
	} {
		t.Run(name, func(t *testing.T) {
			access := &snapshot.Access{RequestsAuth: snapshot.RequestsAuth{
				Methods: []string{tc.method},
				JWT:     &snapshot.AllowedPairs{AllowedPairs: []snapshot.TokenIssuer{{Issuer: pair}}},
			}}
			got := policy.NewIntrospectors(tc.project, "ver_1", access)
			if (got == nil) != tc.none {
				t.Fatalf("introspectors %+v", got)
			}
			if got == nil {
				return
			}
			if got.EndpointVersion != tc.endpoint {
				t.Errorf("endpoint of version %q, want %q", got.EndpointVersion, tc.endpoint)
			}
			var providers, verified []string
			for _, provider := range got.Providers {
				providers = append(providers, provider.ID)
			}
			for _, issuer := range []string{own, pair, other} {
				if got.VerifiedByKeys(issuer) {
					verified = append(verified, issuer)
				}
			}
			if diff := cmp.Diff(tc.providers, providers); diff != "" {
				t.Errorf("providers (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.verified, verified); diff != "" {
				t.Errorf("issuers verified by keys (-want +got):\n%s", diff)
			}
		})
	}
}
