package policy_test

import (
	"testing"

	"postern/core/policy"
	"postern/core/snapshot"
)

// A provider's own token counts as things stand now, whatever they were when it was
// issued.
func TestTheBearerOfAProvidersTokenHasAPlaceAsThingsStand(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*snapshot.Project)
		denial policy.Denial
		gets   policy.Authorization
	}{
		"as it is":             {func(*snapshot.Project) {}, policy.Denial{}, policy.KeepAuthorization},
		"an ID token":          {func(p *snapshot.Project) { p.Clients[0].Providers[0].TokenUpstream = snapshot.ProviderIDToken }, policy.Denial{}, policy.KeepAuthorization},
		"nothing for upstream": {func(p *snapshot.Project) { p.Clients[0].Providers[0].TokenUpstream = snapshot.NoToken }, policy.Denial{}, policy.DropAuthorization},
		"tokens of ours now":   {func(p *snapshot.Project) { p.Clients[0].Providers[0].TokenUpstream = snapshot.ServiceToken }, policy.InvalidToken, 0},
		"no provider":          {func(p *snapshot.Project) { p.Clients[0].Providers = nil }, policy.InvalidToken, 0},
		"no app client":        {func(p *snapshot.Project) { p.Clients = nil }, policy.TokenTenant, 0},
		"no tenant":            {func(p *snapshot.Project) { p.Tenants = nil }, policy.TokenTenant, 0},
		"frozen":               {func(p *snapshot.Project) { p.Barred = []snapshot.BarredUser{{ID: "usr_1"}} }, policy.UserFrozen, 0},
		"deleted": {func(p *snapshot.Project) {
			p.Barred = []snapshot.BarredUser{{
				ID:      "usr_1",
				Deleted: true,
			}}
		}, policy.InvalidToken, 0},
	} {
		p := &snapshot.Project{ID: "prj_1", Tenants: []snapshot.Tenant{{ID: "tnt_1", Name: snapshot.DefaultTenant}},
			Clients: []snapshot.AppClient{{
				ID:       "cli_1",
				Issuer:   "https://postern.example/oauth/cli_1",
				TenantID: "tnt_1",
				Providers: []snapshot.Provider{{
					ID:            "idp_1",
					Enabled:       true,
					TokenClient:   snapshot.ProviderToken,
					TokenUpstream: snapshot.ProviderAccessToken,
				}},
			}}}
		tc.change(p)
		d := policy.Decide(&policy.Call{
			Realm: policy.NewRealm(p),
			Access: &snapshot.Access{
				Mode:    snapshot.Authenticate,
				Methods: []snapshot.Method{snapshot.JWT},
				Keyless: snapshot.Reject,
			},
			Token: &policy.Token{
				Issuer:  "https://postern.example/oauth/cli_1",
				Subject: "usr_1",
				Hosted:  policy.Hosted{Introspected: true, Client: "cli_1", Provider: "idp_1", Groups: []string{"staff"}},
			},
		})
		if d.Allow != (tc.denial == policy.Denial{}) || d.Denial != tc.denial ||
			(d.Allow && (d.Authorization != tc.gets || d.Identity.User != "usr_1" || d.Identity.TenantID != "tnt_1")) {
			t.Errorf("%s: %+v, want %v", name, d, tc.denial)
		}
	}
}

func TestWhomAVersionAsks(t *testing.T) {
	on := snapshot.Provider{ID: "idp_on", Enabled: true, TokenClient: snapshot.ProviderToken}
	off := snapshot.Provider{ID: "idp_off", TokenClient: snapshot.ProviderToken}
	ours := snapshot.Provider{ID: "idp_ours", Enabled: true, TokenClient: snapshot.ServiceToken}
	p := &snapshot.Project{Clients: []snapshot.AppClient{{
		ID:        "cli_1",
		Issuer:    "https://postern.example/oauth/cli_1",
		Providers: []snapshot.Provider{off, ours, on},
	}}}
	access := func(methods ...snapshot.Method) *snapshot.Access {
		return &snapshot.Access{Methods: methods, Issuers: []snapshot.TokenIssuer{{Issuer: "https://pair.example"}}}
	}
	if asked := policy.NewIntrospectors(p, "ver_1", access(snapshot.APIKey)); asked != nil {
		t.Errorf("a version with keys alone asks %+v", asked)
	}
	if asked := policy.NewIntrospectors(&snapshot.Project{}, "ver_1", access(snapshot.JWT)); asked != nil {
		t.Errorf("a version without a login asks %+v", asked)
	}
	asked := policy.NewIntrospectors(p, "ver_1", access(snapshot.JWT))
	if asked == nil || asked.EndpointVersion != "" || len(asked.Providers) != 1 || asked.Providers[0].ID != "idp_on" ||
		!asked.VerifiedByKeys("https://pair.example") ||
		!asked.VerifiedByKeys("https://postern.example/oauth/cli_1") ||
		asked.VerifiedByKeys("https://other.example") {
		t.Errorf("with jwt it asks %+v", asked)
	}
	asked = policy.NewIntrospectors(p, "ver_1", access(snapshot.Opaque))
	if asked == nil || asked.EndpointVersion != "ver_1" || len(asked.Providers) != 0 ||
		asked.VerifiedByKeys("https://pair.example") ||
		!asked.VerifiedByKeys("https://postern.example/oauth/cli_1") {
		t.Errorf("with opaque it asks %+v", asked)
	}
}
