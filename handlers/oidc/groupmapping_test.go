package oidc_test

import (
	"slices"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/service/directory"
	"postern/testkit/idp"
	"postern/testkit/state"
)

// mappedApp is an application with a provider that states the claims in Stated in addition to the usual
// ones, and with groups by name.
type mappedApp struct {
	*app
	fake     *idp.Fake
	provider contract.Provider
	stated   map[string]any
	groups   map[string]string
}

func newMappedApp(t *testing.T, db *models.DB, groups ...string) *mappedApp {
	t.Helper()
	s := &mappedApp{app: newLoginApp(t, db, contract.AppClientSettings{}), groups: map[string]string{}}
	s.fake, s.provider = s.offerFake()
	s.fake.Claims = func(claims map[string]any) {
		for name, value := range s.stated {
			claims[name] = value
		}
	}
	for _, name := range groups {
		group, err := s.server.Directory.CreateGroup(t.Context(), s.owner, contract.NewGroup{Name: name}.In(s.tenant))
		if err != nil {
			t.Fatal(err)
		}
		s.groups[name] = group.ID
	}
	return s
}

func (s *mappedApp) mapOf(provider contract.Provider, rules ...contract.GroupMapping) contract.GroupMappings {
	s.t.Helper()
	out, err := s.server.AppClients.SetGroupMappings(s.t.Context(), s.owner, mappings(provider, rules...))
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

// arrive signs the user in with these claims, and returns the groups of the token.
func (s *mappedApp) arrive(claims map[string]any) []string {
	s.t.Helper()
	s.stated = claims
	r, back := s.signIn(s.fake, s.provider, "openid groups")
	return groupsIn(s.t, s.exchange(r, back).Access)
}

func groupsIn(t *testing.T, token string) []string {
	t.Helper()
	out := []string{}
	list, _ := claims(t, token)["groups"].([]any)
	for _, one := range list {
		out = append(out, one.(string))
	}
	return out
}

func mappings(provider contract.Provider, rules ...contract.GroupMapping) contract.GroupMappingsUpdate {
	return contract.GroupMappingsUpdate{
		ProviderPath: contract.ProviderPath{Provider: provider.ID},
		Body:         contract.GroupMappingRules{Mappings: rules},
	}
}

func rule(claim, value, group string) contract.GroupMapping {
	return contract.GroupMapping{Claim: claim, Value: value, Match: contract.MatchExact, Group: group}
}

// Each sign-in adds the groups that the claims map to, and takes those away that only earlier
// claims gave.
func TestGroupMappings_signIn(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newMappedApp(t, db, "admins", "billing", "eu", "staff")
	s.mapOf(s.provider,
		rule("realm_access.roles", "admin", "admins"),
		contract.GroupMapping{Claim: "groups", Value: "/sales/", Match: contract.MatchPrefix, Group: "billing"},
		rule("https://example.com/region", "eu", s.groups["eu"]),
		rule("https://example.com/staff", "true", "staff"),
	)
	for _, tt := range []struct {
		name   string
		claims map[string]any
		want   []string
	}{
		{"every claim", map[string]any{
			"realm_access":               map[string]any{"roles": []string{"user", "admin"}},
			"groups":                     []string{"/sales/north", "/sales/south"},
			"https://example.com/region": "eu",
			"https://example.com/staff":  true,
		}, []string{"admins", "billing", "eu", "staff"}},
		{"another case", map[string]any{
			"realm_access":               map[string]any{"roles": []string{"Admin"}},
			"https://example.com/region": "EU",
		}, []string{}},
		{"a part of the value", map[string]any{
			"realm_access":               map[string]any{"roles": []string{"administrator"}},
			"groups":                     []string{"sales/north", "/sales"},
			"https://example.com/region": "eu-west",
		}, []string{}},
		{"a text in place of a list", map[string]any{
			"realm_access": map[string]any{"roles": "admin"},
		}, []string{"admins"}},
		{"a flat name", map[string]any{"realm_access.roles": []string{"admin"}}, []string{}},
		{"no claims", nil, []string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := s.arrive(tt.claims); !slices.Equal(got, tt.want) {
				t.Errorf("groups %q, want %q", got, tt.want)
			}
		})
	}
}

// A mapping neither ends nor takes over what people, approvals and other providers gave.
func TestGroupMappings_ownMembershipsOnly(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newMappedApp(t, db, "staff", "sales")
	s.mapOf(s.provider, rule("role", "staff", "staff"), rule("role", "sales", "sales"))
	staff := map[string]any{"role": "staff"}
	s.arrive(staff)
	user := s.userOf("subject-1")
	set := func(group string) {
		t.Helper()
		_, err := s.server.Directory.SetMember(
			t.Context(), s.owner, contract.InGroup(s.groups[group], user).As("member"),
		)
		if err != nil {
			t.Fatal(err)
		}
	}
	set("sales") // by a person, before any claim names it
	if got := s.arrive(map[string]any{"role": []string{"sales", "staff"}}); !slices.Equal(got,
		[]string{"sales", "staff"}) {
		t.Fatalf("with both claims: %q", got)
	}
	if got := s.arrive(nil); !slices.Equal(got, []string{"sales"}) {
		t.Errorf("without claims: %q, want what a person gave", got)
	}
	s.arrive(staff)
	set("staff") // by a person, after a claim
	if got := s.arrive(nil); !slices.Equal(got, []string{"sales", "staff"}) {
		t.Errorf("after a person confirmed it: %q", got)
	}
	if _, err := s.server.Directory.RemoveMember(
		t.Context(), s.owner, contract.InGroup(s.groups["staff"], user),
	); err != nil {
		t.Fatal(err)
	}
	if got := s.arrive(nil); !slices.Equal(got, []string{"sales"}) {
		t.Errorf("after a person removed it: %q", got)
	}
	if got := s.arrive(staff); !slices.Equal(got, []string{"sales", "staff"}) {
		t.Errorf("with the claim again: %q", got)
	}
}

func (s *mappedApp) userOf(subject string) string {
	s.t.Helper()
	user, err := s.db.Read(s.t.Context()).EndUserByIdentity(s.tenant, "oidc:"+s.fake.Issuer, subject)
	if err != nil {
		s.t.Fatal(err)
	}
	return user.ID
}

// If two providers put a user into a group, either one keeps them there. A membership from one provider only ends with
// the provider, and with the last rule that names the group.
func TestGroupMappings_twoProviders(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newMappedApp(t, db, "staff", "sales", "admins")
		name, secret := idp.ClientID, contract.Secret(idp.ClientSecret)
		other := s.offer(contract.NewProvider{
			Type:             "oidc",
			Issuer:           s.fake.Issuer,
			ProviderSettings: contract.ProviderSettings{ClientID: &name, ClientSecret: &secret},
		})
		first := s.provider
		rules := []contract.GroupMapping{rule("role", "staff", "staff"), rule("role", "sales", "sales")}
		s.mapOf(first, rules...)
		s.mapOf(other, rules...)
		with := func(provider contract.Provider, claims map[string]any) []string {
			s.provider = provider
			return s.arrive(claims)
		}
		both := map[string]any{"role": []string{"staff", "sales"}}
		with(first, both)
		with(other, map[string]any{"role": "staff"})
		if got := with(first, nil); !slices.Equal(got, []string{"staff"}) {
			t.Errorf("after the first ended both: %q, want what the other gives", got)
		}
		with(first, both)
		events := s.subscribe()
		s.mapOf(first, rules[0], rule("role", "admins", "admins"))
		if list := events(); len(list) != 1 || list[0].Data["group"] != s.groups["sales"] {
			t.Errorf("after its last rule was removed webhooks got %v, want group.changed of sales", list)
		}
		if got := s.groupsNow(); !slices.Equal(got, []string{"staff"}) {
			t.Errorf("after the last rule of sales was removed: %q", got)
		}
		if _, err := s.server.AppClients.DeleteProvider(t.Context(), s.owner, first.Path()); err != nil {
			t.Fatal(err)
		}
		if got := s.groupsNow(); !slices.Equal(got, []string{"staff"}) {
			t.Errorf("without the first provider: %q, want what the other gave", got)
		}
		if _, err := s.server.AppClients.DeleteClient(t.Context(), s.owner, s.client.Path()); err != nil {
			t.Fatal(err)
		}
		if got := s.groupsNow(); len(got) > 0 {
			t.Errorf("without the app client: %q", got)
		}
	})
}

func (s *mappedApp) groupsNow() []string {
	s.t.Helper()
	names, err := directory.GroupsOf(s.db.Read(s.t.Context()), s.userOf("subject-1"))
	if err != nil {
		s.t.Fatal(err)
	}
	return names
}

// A group, a user and a rule can go while memberships by claims exist.
func TestGroupMappings_deletions(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newMappedApp(t, db, "staff", "sales")
	s.mapOf(s.provider, rule("role", "staff", "staff"), rule("role", "sales", "sales"))
	s.arrive(map[string]any{"role": []string{"staff", "sales"}})
	if _, err := s.server.Directory.DeleteGroup(
		t.Context(), s.owner, contract.GroupPath{Group: s.groups["sales"]},
	); err != nil {
		t.Fatal(err)
	}
	left, err := s.server.AppClients.GroupMappings(t.Context(), s.owner, contract.ProviderPath{Provider: s.provider.ID})
	if err != nil || len(left.Mappings) != 1 || left.Mappings[0].GroupName != "staff" {
		t.Errorf("after the group: %+v, %v", left, err)
	}
	if got := s.arrive(map[string]any{"role": []string{"staff", "sales"}}); !slices.Equal(got, []string{"staff"}) {
		t.Errorf("after the group: %q", got)
	}
	one := contract.UserPath{User: s.userOf("subject-1")}
	if _, err := s.server.Directory.DeleteUser(t.Context(), s.owner, one); err != nil {
		t.Fatal(err)
	}
	if got := s.arrive(map[string]any{"role": "staff"}); !slices.Equal(got, []string{"staff"}) {
		t.Errorf("the user who came back: %q", got)
	}
}

// Rules that are removed between the provider's answer and the user's consent give nothing.
func TestGroupMappings_removedDuringSignIn(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newMappedApp(t, db, "staff")
	s.mapOf(s.provider, rule("role", "staff", "staff"))
	s.stated = map[string]any{"role": "staff"}
	browser, r := s.browser(), s.request("openid groups")
	back := s.fake.Authorize(t, s.toProvider(browser, r, s.provider.ID).String())
	page := s.get(browser, back.String())
	s.mapOf(s.provider)
	agreed := s.post(browser, s.path("/consent"), formOf(page, "agree"))
	if agreed.to == nil {
		t.Fatalf("%d %s", agreed.status, agreed.Find("main").Text())
	}
	if got := groupsIn(t, s.exchange(r, agreed.to).Access); len(got) > 0 {
		t.Errorf("groups %q", got)
	}
}
