package oidc_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/testkit/idp"
	"postern/testkit/state"
)

// onGitHub has the application's users sign in with GitHub.
func (s *mappedApp) onGitHub() *idp.GitHub {
	s.t.Helper()
	fake := idp.StartGitHub(s.t)
	s.server.AppClients.Providers.GitHubURL, s.server.AppClients.Providers.GitHubAPI = fake.URL, fake.URL
	name, secret := idp.ClientID, contract.Secret(idp.ClientSecret)
	s.fake = fake.Fake
	s.provider = s.offer(contract.NewProvider{
		Type:             "github",
		ProviderSettings: contract.ProviderSettings{ClientID: &name, ClientSecret: &secret},
	})
	return fake
}

// Organizations and teams put users into groups while GitHub lists them. Claims that the user withholds end
// memberships; an outage ends none, and starts none.
func TestGroupMappings_gitHub(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newMappedApp(t, db, "acme", "sre", "both")
	fake := s.onGitHub()
	s.mapOf(
		s.provider, rule("organizations", "Acme", "acme"), rule("teams", "Acme/sre", "sre"),
		rule("organization_ids", "42", "both"), rule("team_ids", "7", "both"),
	)
	acme, sre := idp.GitHubOrg(42, "Acme"), idp.GitHubTeam(7, "Acme", "sre")
	down := func(path string) func(w http.ResponseWriter, r *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == path {
				idp.Answer(w, http.StatusBadGateway, map[string]any{})
			}
			return r.URL.Path == path
		}
	}
	less := "read:user,user:email"
	for _, tt := range []struct {
		name        string
		orgs, teams []map[string]any
		api         func(w http.ResponseWriter, r *http.Request) bool
		grants      *string
		want        []string
	}{
		{"teams are down at the first sign-in", []map[string]any{acme}, []map[string]any{sre}, down("/user/teams"),
			nil, []string{"acme", "both"}},
		{"both", []map[string]any{acme}, []map[string]any{sre}, nil, nil, []string{"acme", "both", "sre"}},
		{"organizations are down", nil, nil, down("/user/orgs"), nil, []string{"acme", "both"}},
		{"without either", nil, nil, nil, nil, []string{}},
		{"both again", []map[string]any{acme}, []map[string]any{sre}, nil, nil, []string{"acme", "both", "sre"}},
		{"the scope is not granted", []map[string]any{acme}, []map[string]any{sre}, nil, &less, []string{}},
		{"renamed", []map[string]any{idp.GitHubOrg(42, "Acme-Inc")}, nil, nil, nil, []string{"both"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fake.Orgs, fake.Teams, fake.API, fake.Grants = tt.orgs, tt.teams, tt.api, tt.grants
			if got := s.arrive(nil); !slices.Equal(got, tt.want) {
				t.Errorf("groups %q, want %q", got, tt.want)
			}
		})
	}
	t.Run("audit log", func(t *testing.T) {
		found := s.claimEntries("github:"+fake.URL, "583231")
		unavailable := slices.IndexFunc(found, func(e contract.AuditEntry) bool {
			return e.Detail["unavailable"] == "organizations organization_ids"
		})
		withheld := slices.IndexFunc(found, func(e contract.AuditEntry) bool {
			return e.Detail["withheld"] == "organizations teams organization_ids team_ids"
		})
		if unavailable < 0 || withheld < 0 {
			t.Errorf("no entry names the claims that were not stated: %+v", found)
		}
	})
}

// Claims that are not stated are in the audit log once, and again when that ends, though no
// group changes.
func TestGroupMappings_unstatedOnce(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newMappedApp(t, db, "acme")
		fake := s.onGitHub()
		rules := []contract.GroupMapping{rule("organizations", "Acme", "acme")}
		s.mapOf(s.provider, rules...)
		fake.Orgs = []map[string]any{idp.GitHubOrg(42, "Acme")}
		down, less := false, ""
		fake.API = func(w http.ResponseWriter, r *http.Request) bool {
			refused := down && r.URL.Path == "/user/orgs"
			if refused {
				idp.Answer(w, http.StatusBadGateway, map[string]any{})
			}
			return refused
		}
		last := 0
		for _, tt := range []struct {
			name        string
			change      func()
			entries     int
			unavailable []string // before and after, "" where it did not change
		}{
			{"joins", func() {}, 1, nil},
			{"fails", func() { down = true }, 1, []string{"null", `["organizations"]`}},
			{"fails again", func() {}, 0, nil},
			{
				"fails after the rules changed", func() { s.mapOf(s.provider, rules...) }, 1,
				[]string{"null", `["organizations"]`},
			},
			{"is back", func() { down = false }, 1, []string{`["organizations"]`, "null"}},
			{"is still there", func() {}, 0, nil},
			{"leaves", func() { less = "read:user"; fake.Grants = &less }, 1, nil},
			{"still does not grant it", func() {}, 0, nil},
		} {
			t.Run(tt.name, func(t *testing.T) {
				tt.change()
				s.arrive(nil)
				found := s.claimEntries("github:"+fake.URL, "583231")
				if added := len(found) - last; added != tt.entries {
					t.Fatalf("%d entries, want %d", added, tt.entries)
				}
				if last = len(found); tt.unavailable == nil {
					return
				}
				change, _ := json.Marshal([]any{
					found[0].Changes["unavailable"].Before, found[0].Changes["unavailable"].After,
				})
				if want := "[" + strings.Join(tt.unavailable, ",") + "]"; string(change) != want {
					t.Errorf("the change is %s, want %s", change, want)
				}
			})
		}
	})
}

// claimEntries are the audit entries of a user's mapped groups, the newest first.
func (s *mappedApp) claimEntries(issuer, subject string) []contract.AuditEntry {
	s.t.Helper()
	user, err := s.db.Read(s.t.Context()).EndUserByIdentity(s.tenant, issuer, subject)
	if err != nil {
		s.t.Fatal(err)
	}
	found, err := s.server.Audit.List(s.t.Context(), s.owner, contract.AuditList{Object: user.ID})
	if err != nil {
		s.t.Fatal(err)
	}
	return slices.DeleteFunc(found.Items, func(e contract.AuditEntry) bool { return e.Detail["by"] != "claims" })
}

// GitHub has four claims, and the shared app asks for none of them.
func TestGroupMappings_gitHubRefusals(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newMappedApp(t, db, "acme")
	s.onGitHub()
	set := func(provider contract.Provider, one contract.GroupMapping) (code, detail string) {
		t.Helper()
		_, err := s.server.AppClients.SetGroupMappings(t.Context(), s.owner, mappings(provider, one))
		failure, ok := errors.AsType[*fault.Error](err)
		if !ok || len(failure.Fields) != 1 {
			return "", ""
		}
		return failure.Fields[0].Code, failure.Fields[0].Detail
	}
	for _, claim := range []string{"groups", "organizations.0", "Teams", "email"} {
		t.Run(claim, func(t *testing.T) {
			code, detail := set(s.provider, rule(claim, "x", "acme"))
			if code != "unknown_claim" || !strings.Contains(detail, "organizations, organization_ids, teams, "+
				"team_ids") {
				t.Errorf("%s %s", code, detail)
			}
		})
	}
	t.Run("managed", func(t *testing.T) {
		s.server.AppClients.Shared.ClientID, s.server.AppClients.Shared.ClientSecret = "shared", "secret"
		shared := s.offer(contract.NewProvider{Type: "github", Managed: true})
		if code, detail := set(shared, rule("teams", "Acme/sre", "acme")); code != "managed_has_its_own" {
			t.Errorf("%s %s", code, detail)
		}
	})
}
