package sample

import (
	"context"
	"fmt"
	"iter"
	"time"

	"postern/core/contract"
	"postern/core/snapshot"
)

// People gives a project app clients, providers, an API with scopes, groups and users: those of
// the tenants default and acme. Some have no address, or the same as another; some texts are
// Nasty, some users agreed to share with an app client that is gone.
func People(p *snapshot.Project) func(context.Context, snapshot.Tenant) iter.Seq2[snapshot.User, error] {
	users := map[string][]snapshot.User{"tnt_1": usersOf("a", 5), "tnt_2": usersOf("b", 2)}
	for i := range p.Tenants {
		t := &p.Tenants[i]
		if of, have := users[t.ID]; have {
			t.Directory = directory(t.ID, len(of))
		}
	}
	p.Clients = clients()
	p.API = snapshot.API{Audience: "https://api.shop.example", Scopes: []snapshot.APIScope{
		{Name: "basic", Description: "a name that Keycloak has a scope of"},
		{Name: "orders:read", Description: Nasty},
		{Name: "orders:write"},
	}}
	return Users(users)
}

// Users streams the users of tenants, by their ids.
func Users(of map[string][]snapshot.User) func(context.Context, snapshot.Tenant) iter.Seq2[snapshot.User, error] {
	return func(_ context.Context, t snapshot.Tenant) iter.Seq2[snapshot.User, error] {
		return func(yield func(snapshot.User, error) bool) {
			for _, u := range of[t.ID] {
				if !yield(u, nil) {
					return
				}
			}
		}
	}
}

func directory(tenant string, users int) *snapshot.Directory {
	group := func(name string, parents ...string) snapshot.Group {
		return snapshot.Group{
			ID: "grp_" + tenant[4:] + name, Name: name, Parents: parents, CreatedAt: Base, UpdatedAt: Base,
		}
	}
	inner := group("inner", "grp_"+tenant[4:]+"outer")
	inner.DisplayName, inner.ExternalID = Nasty, "hr:${HOME}"
	inner.Owners = []snapshot.GroupOwner{{Owner: "billing service", Role: "member", CreatedAt: Base}}
	return &snapshot.Directory{
		InviteOnly: true,
		Approvals: []snapshot.Approval{
			{ID: "apr_" + tenant[4:], Kind: "domain", Value: "example.com", Groups: []string{inner.ID},
				CreatedAt: Base},
		},
		Groups:   []snapshot.Group{inner, group("outer")},
		Users:    int64(users),
		Consents: int64(2 * users), // see usersOf
	}
}

func usersOf(prefix string, n int) []snapshot.User {
	var out []snapshot.User
	for i := range n {
		u := snapshot.User{
			Profile: map[int]string{1: `{"given_name":"Person","family_name":"` + prefix + `","locale":"de"}`}[i],
			ID:      fmt.Sprintf("usr_%s%02d", prefix, i), Email: fmt.Sprintf("%s%d@example.com", prefix, i/2),
			EmailVerified: i%2 == 0, Name: "Person " + prefix, State: "active", CreatedAt: Base, UpdatedAt: Base,
			Identities: []snapshot.Identity{
				{Issuer: "google", Subject: fmt.Sprintf("%s-%d", prefix, i), ProviderID: "idp_1", CreatedAt: Base},
			},
			Memberships: []snapshot.Membership{
				{GroupID: map[string]string{"a": "grp_1inner", "b": "grp_2inner"}[prefix], Role: "member",
					CreatedAt: Base},
			},
			Consents: []snapshot.Consent{
				{ClientID: "cli_1", Scope: "openid email orders:read blog:read", CreatedAt: Base, UpdatedAt: Base},
				{ClientID: "cli_9", Scope: "openid", CreatedAt: Base, UpdatedAt: Base},
			},
		}
		switch i {
		case 1:
			u.Email, u.Name, u.State = "", Nasty, "frozen"
		case 2:
			u.UserName, u.ExternalID, u.State, u.Identities = "${user}"+prefix, "{vault://env/HOME}", "invited", nil
		}
		out = append(out, u)
	}
	return out
}

func clients() []snapshot.AppClient {
	return []snapshot.AppClient{
		{
			ID: "cli_1", Name: "web", Issuer: "https://postern.example/oauth/cli_1", TenantID: "tnt_1",
			Settings: &snapshot.ClientSettings{
				RedirectURIs: []string{"https://app.example/back", "com.example.app:/back"},
				LogoutURIs:   []string{"https://app.example/bye"},
				GrantTypes:   []string{"authorization_code", "refresh_token"},
				APIScopes:    []string{"orders:*"},
				PKCE:         "required",
				AccessFor:    5 * time.Minute, RefreshFor: 24 * time.Hour, Algorithm: "ES256",
				Branding:  contract.Branding{Title: Nasty, Color: "#123456"},
				CreatedAt: Base,
			},
			Providers: []snapshot.Provider{
				{ID: "idp_1", Type: "google", ClientID: "app-1", Enabled: true, ClientToken: snapshot.ServiceToken,
					UpstreamToken: snapshot.ServiceToken, Settings: &snapshot.ProviderSettings{HasSecret: true,
						Label: Nasty, Scopes: []string{"openid", "email"}, CreatedAt: Base}},
				{ID: "idp_2", Type: "oidc", ClientID: "app-2", Issuer: "https://accounts.example", Enabled: true,
					ClientToken: snapshot.ServiceToken, UpstreamToken: snapshot.ServiceToken,
					Settings: &snapshot.ProviderSettings{CreatedAt: Base, Mappings: []snapshot.GroupMapping{
						{Claim: "groups", Value: "/sales", Match: "prefix", Group: "outer"},
						{Claim: "https://acme.example/roles", Value: Nasty, Match: "exact", Group: "inner"},
						{Claim: `resource_access.my\.app`, Value: Nasty, Match: "prefix", Group: "inner"},
						{Claim: "email", Value: "boss@acme.example", Match: "exact", Group: "inner"},
					}}},
				{ID: "idp_3", Type: "github", Enabled: true, ClientToken: snapshot.ServiceToken,
					UpstreamToken: snapshot.ServiceToken,
					Settings:      &snapshot.ProviderSettings{Managed: true, CreatedAt: Base}},
			},
		},
		{
			ID: "cli_2", Name: "robot", Issuer: "https://postern.example/oauth/cli_2", TenantID: "tnt_2", Machine: true,
			Settings: &snapshot.ClientSettings{
				GrantTypes: []string{snapshot.ClientCredentials}, SecretHash: make([]byte, 32), AccessFor: time.Hour,
				Algorithm: "RS256", PKCE: "when_sent",
				APIScopes: []string{"orders:read"}, CreatedAt: Base,
			},
		},
	}
}
