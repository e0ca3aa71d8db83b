package oidc_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/testkit/state"
)

// fill puts a user into new groups, whose names have 38 characters and sort by number.
func (s groupAdmins) fill(user, role string, count int) {
	s.t.Helper()
	now := models.Now()
	groups, members := make([]*models.UserGroup, count), make([]*models.GroupMember, count)
	for n := range count {
		id := models.NewID("grp")
		groups[n] = &models.UserGroup{
			ID: id, TenantID: s.tenant, Name: manyGroup(n), CreatedAt: now, UpdatedAt: now,
		}
		members[n] = &models.GroupMember{GroupID: id, UserID: user, Role: role, CreatedAt: now}
	}
	err := s.db.Write(s.t.Context(), func(tx *models.Tx) error {
		for n := 0; n < count; n += 500 { // a statement has a limit of parameters
			some, theirs := groups[n:min(n+500, count)], members[n:min(n+500, count)]
			if err := tx.Insert(&some, &theirs); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

func manyGroup(n int) string { return fmt.Sprintf("%038d", n) }

// askFor adds rules that name the groups.
func (s groupAdmins) askFor(groups ...string) {
	s.t.Helper()
	tx := s.db.Read(s.t.Context())
	tenant, err := tx.TenantByID(s.tenant)
	if err != nil {
		s.t.Fatal(err)
	}
	versions, err := tx.VersionsOf(*tenant.ProjectID)
	if err == nil {
		rules := snapshot.Rules{List: []snapshot.Rule{{Methods: []string{"GET"}, Path: "/", Groups: groups}}}
		_, err = s.server.Projects.SetRules(s.t.Context(), s.owner, contract.RulesUpdate{
			VersionPath: contract.VersionPath{
				ProjectPath: contract.ProjectPath{Project: *tenant.ProjectID}, Version: versions[0].ID,
			},
			Body: rules,
		})
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// maxToken is the longest token that gateways read.
const maxToken = 16 << 10

// A token has at most 200 groups, those that rules name first, and says so.
func TestTokens_manyGroups(t *testing.T) {
	t.Parallel()
	confidential := true
	for _, count := range []int{200, 295, 1000, 5000} {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			t.Parallel()
			set := contract.AppClientSettings{Confidential: &confidential}
			s := groupAdmins{app: newLoginApp(t, state.OpenSQLite(t), set)}
			fake, provider := s.offerFake()
			r, back := s.signIn(fake, provider, "openid groups offline_access")
			first := s.exchange(r, back)
			user, _ := claims(t, first.Access)["sub"].(string)
			s.fill(user, "member", count)
			last, want := manyGroup(count-1), []string{}
			for n := range 200 {
				want = append(want, manyGroup(n))
			}
			if s.askFor(last, "without-users"); count > 200 {
				want = append([]string{last}, want[:199]...)
			}
			tokens := s.refresh(first.Refresh)
			if tokens.Error != "" || len(tokens.Access) > maxToken {
				t.Fatalf("a token of %d bytes, %s", len(tokens.Access), tokens.Error)
			}
			_, _, userinfo := s.call(http.MethodGet, "/userinfo", tokens.Access, "")
			s.announces(claims(t, tokens.ID), userinfo)
			var introspected map[string]any
			raw := s.introspect(url.Values{"token": {tokens.Access}}).raw
			if err := json.Unmarshal([]byte(raw), &introspected); err != nil {
				t.Fatal(err)
			}
			for place, said := range map[string]map[string]any{
				"access token": claims(t, tokens.Access), "ID token": claims(t, tokens.ID), "userinfo": userinfo,
				"introspection": introspected,
			} {
				got := strings.Split(strings.Trim(fmt.Sprint(said["groups"]), "[]"), " ")
				cut, _ := said["groups_truncated"].(bool)
				slices.Sort(got[1:])
				first := got[0]
				slices.Sort(got)
				if slices.Sort(want); !slices.Equal(got, want) || cut != (count > 200) || (cut && first != last) {
					t.Errorf("%s has %d groups, first %s, truncated %v", place, len(got), first, cut)
				}
			}
		})
	}
}

// announces checks that claims_supported has every claim.
func (s *app) announces(stated ...map[string]any) {
	s.t.Helper()
	found, err := s.server.Login.Discover(s.t.Context(), s.client.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, some := range stated {
		for claim := range some {
			if !slices.Contains(found.Claims, claim) {
				s.t.Errorf("claims_supported lacks %s", claim)
			}
		}
	}
}

// Long names of groups leave room for the rest of a token.
func TestTokens_longGroups(t *testing.T) {
	t.Parallel()
	s := newGroupAdmins(t, state.OpenSQLite(t))
	fake, provider := s.offerFake(contract.NewTokenType{Client: "service", Upstream: "provider_access_token"})
	fake.Access = strings.Repeat("t", 3000)
	r, back := s.signIn(fake, provider, "openid groups")
	user, _ := claims(t, s.exchange(r, back).Access)["sub"].(string)
	s.fill(user, "admin", 300)
	r, back = s.signIn(fake, provider, "openid groups")
	tokens := s.exchange(r, back)
	said := claims(t, tokens.Access)
	sealed, _ := said["upstream_token"].(string)
	if len(tokens.Access) > maxToken || said["groups_truncated"] != true || len(sealed) < 4000 {
		t.Errorf("a token of %d bytes: %v", len(tokens.Access), said)
	}
}
