package oidc_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/platform/fault"
	"postern/service/access"
	"postern/testkit/idp"
	"postern/testkit/state"
)

// A claim that the ID token lacks is read from userinfo.
func TestGroupMappings_userinfo(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newMappedApp(t, db, "staff", "sales")
	s.mapOf(s.provider, rule("role", "staff", "staff"), rule("team", "sales", "sales"))
	subject := s.fake.Subject
	s.fake.Switch(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/userinfo" {
			return false
		}
		idp.Answer(w, http.StatusOK, map[string]any{"sub": subject, "team": "sales", "role": "guest"})
		return true
	})
	if got := s.arrive(map[string]any{"role": "staff"}); !slices.Equal(got, []string{"sales", "staff"}) {
		t.Errorf("groups %q, want one of the ID token and one of userinfo", got)
	}
	asked := s.fake.Requests("/userinfo")
	s.arrive(map[string]any{"role": "staff", "team": "none", "given_name": "Ana"})
	if now := s.fake.Requests("/userinfo"); now != asked {
		t.Errorf("userinfo was asked though the ID token has every claim")
	}
	subject = "another-subject"
	s.stated = nil
	browser := s.browser()
	back := s.fake.Authorize(t, s.toProvider(browser, s.request("openid"), s.provider.ID).String())
	if page := s.get(browser, back.String()); page.status != http.StatusForbidden {
		t.Errorf("userinfo about another user: %d %s", page.status, page.Find("main").Text())
	}
}

// An address counts only once the provider has verified it.
func TestGroupMappings_unverifiedAddress(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newMappedApp(t, db, "staff")
	s.mapOf(s.provider, rule("email", "boss@example.com", "staff"))
	boss := map[string]any{"email": "boss@example.com", "email_verified": false}
	if got := s.arrive(boss); len(got) > 0 {
		t.Errorf("unverified: %q", got)
	}
	boss["email_verified"] = true
	if got := s.arrive(boss); !slices.Equal(got, []string{"staff"}) {
		t.Errorf("verified: %q", got)
	}
}

// Microsoft leaves out the groups of users who are in too many
// (learn.microsoft.com/entra/identity-platform/id-token-claims-reference#groups-overage-claim):
// memberships that cannot be proven end, and the audit log names the claim.
func TestGroupMappings_microsoftOverage(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newMappedApp(t, db, "staff")
	s.fake = idp.StartMicrosoft(t)
	s.server.AppClients.Providers.MicrosoftURL = s.fake.URL
	honest := s.fake.Claims
	s.fake.Claims = func(claims map[string]any) {
		honest(claims)
		for name, value := range s.stated {
			claims[name] = value
		}
	}
	name, secret := idp.ClientID, contract.Secret(idp.ClientSecret)
	s.provider = s.offer(contract.NewProvider{
		Type:             "microsoft",
		ProviderSettings: contract.ProviderSettings{ClientID: &name, ClientSecret: &secret},
	})
	s.mapOf(s.provider, rule("groups", "3d1f6a52-1c1c-4c5d-9d5f-0e8f1a9c0b11", "staff"))
	member := map[string]any{"groups": []string{"3d1f6a52-1c1c-4c5d-9d5f-0e8f1a9c0b11"}}
	if got := s.arrive(member); !slices.Equal(got, []string{"staff"}) {
		t.Fatalf("with the claim: %q", got)
	}
	overage := map[string]any{
		"_claim_names": map[string]any{"groups": "src1"},
		"_claim_sources": map[string]any{
			"src1": map[string]any{"endpoint": "https://graph.microsoft.com/v1.0/users/x/getMemberObjects"},
		},
	}
	if got := s.arrive(overage); len(got) > 0 {
		t.Errorf("with an overage: %q", got)
	}
	found, err := s.server.Audit.List(t.Context(), s.owner, contract.AuditList{Object: s.microsoftUser()})
	if err != nil || len(found.Items) == 0 {
		t.Fatalf("%+v, %v", found, err)
	}
	entry := found.Items[0]
	if entry.Detail["withheld"] != "groups" || entry.Detail["by"] != "claims" ||
		entry.Detail["provider"] != s.provider.ID {
		t.Errorf("the audit entry has %v", entry.Detail)
	}
	change := fmt.Sprint(entry.Changes)
	if !strings.Contains(change, "removed") || !strings.Contains(change, "staff") {
		t.Errorf("the audit entry has the changes %s", change)
	}
}

func (s *mappedApp) microsoftUser() string {
	s.t.Helper()
	subject := idp.MicrosoftTenantID + "." + idp.MicrosoftObjectID
	user, err := s.db.Read(s.t.Context()).EndUserByIdentity(s.tenant, "microsoft:"+s.fake.URL, subject)
	if err != nil {
		s.t.Fatal(err)
	}
	return user.ID
}

func TestSetGroupMappings_refusals(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newMappedApp(t, db, "staff")
	name := "others"
	tenant, err := s.server.Directory.CreateGroup(
		t.Context(), s.owner, contract.NewGroup{Name: name}.In(newTenant(t, s.app)),
	)
	if err != nil {
		t.Fatal(err)
	}
	many := make([]contract.GroupMapping, 201)
	for i := range many {
		many[i] = rule("groups", fmt.Sprint(i), "staff")
	}
	for name, tt := range map[string]struct {
		rules         []contract.GroupMapping
		code, pointer string
	}{
		"no claim": {
			[]contract.GroupMapping{rule("", "x", "staff")}, "invalid_claim", "/mappings/0/claim",
		},
		"an empty name": {
			[]contract.GroupMapping{rule("a..b", "x", "staff")}, "invalid_claim", "/mappings/0/claim",
		},
		"no value": {[]contract.GroupMapping{rule("a", "", "staff")}, "required", "/mappings/0/value"},
		"a value of two lines": {
			[]contract.GroupMapping{rule("a", "x\ny", "staff")}, "invalid_value", "/mappings/0/value",
		},
		"a value that is long": {
			[]contract.GroupMapping{rule("a", strings.Repeat("x", 201), "staff")}, "invalid_value",
			"/mappings/0/value",
		},
		"another match": {[]contract.GroupMapping{{Claim: "a", Value: "x", Match: "regex", Group: "staff"}},
			"invalid_match", "/mappings/0/match"},
		"no group": {[]contract.GroupMapping{rule("a", "x", "")}, "unknown_group", "/mappings/0/group"},
		"another tenant's": {
			[]contract.GroupMapping{rule("a", "x", tenant.ID)}, "unknown_group", "/mappings/0/group",
		},
		"a rule that is twice": {[]contract.GroupMapping{rule("a", "x", "staff"), rule("a", "x", s.groups["staff"])},
			"duplicate", "/mappings/1"},
		"too many rules at all": {many, "too_many", "/mappings"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.server.AppClients.SetGroupMappings(t.Context(), s.owner, mappings(s.provider, tt.rules...))
			failure, ok := errors.AsType[*fault.Error](err)
			if !ok || len(failure.Fields) != 1 || failure.Fields[0].Code != tt.code ||
				failure.Fields[0].Pointer != tt.pointer {
				t.Errorf("%v (%+v), want %s at %s", err, failure, tt.code, tt.pointer)
			}
		})
	}
	kept := s.mapOf(s.provider, rule("a", "x", "staff"))
	s.mapOf(s.provider, rule("a", "y", "staff"))
	stale := mappings(s.provider)
	stale.IfMatch = kept.ETag
	if _, err := s.server.AppClients.SetGroupMappings(t.Context(), s.owner, stale); fault.KindOf(err) != fault.Stale {
		t.Errorf("with the ETag of before: %v, want stale", err)
	}
	writer := s.owner
	writer.Scoped, writer.Scopes = true, []access.Scope{access.ScopeRead, access.ScopeWrite}
	if _, err := s.server.AppClients.SetGroupMappings(
		t.Context(), writer, mappings(s.provider),
	); fault.KindOf(err) != fault.Forbidden {
		t.Errorf("with a token without the scope users: %v, want forbidden", err)
	}
	id, secret := "face", contract.Secret("secret")
	facebook := s.offer(contract.NewProvider{
		Type:             "facebook",
		ProviderSettings: contract.ProviderSettings{ClientID: &id, ClientSecret: &secret},
	})
	_, err = s.server.AppClients.SetGroupMappings(t.Context(), s.owner, mappings(facebook, kept.Rules()...))
	if failure, ok := errors.AsType[*fault.Error](err); !ok || failure.Fields[0].Code != "no_claims" {
		t.Errorf("facebook: %v, want no_claims", err)
	}
}

// newTenant creates another tenant of the application's team.
func newTenant(t *testing.T, s *app) string {
	t.Helper()
	name := "other-" + strings.ToLower(rand.Text()[:8])
	tenant, err := s.server.Projects.CreateTenant(t.Context(), s.owner, contract.TenantCreation{
		Body: contract.NewTenant{Name: name},
	})
	if err != nil {
		t.Fatal(err)
	}
	return tenant.ID
}
