package projects_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/testkit/state"
)

// Gateways have the groups of the users of app clients: those in rules, of a user in any number of groups.
func TestRules_groupsOfUsers(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		h := newLoginProject(t, db)
		ana, bob := h.person(t, "ana@example.com"), h.person(t, "bob@example.com")
		outer := "outer"
		made, err := h.people.CreateGroup(t.Context(), h.owner, contract.NewGroup{Name: outer}.In(h.tenant))
		if err != nil {
			t.Fatal(err)
		}
		now := models.Now()
		var groups []*models.UserGroup
		var members []*models.GroupMember
		for n := range 1000 {
			id := models.NewID("grp")
			groups = append(groups, &models.UserGroup{
				ID: id, TenantID: h.tenant, Name: fmt.Sprintf("group-%04d", n), CreatedAt: now, UpdatedAt: now,
			})
			members = append(members, &models.GroupMember{GroupID: id, UserID: ana, Role: "member", CreatedAt: now})
		}
		err = db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(&groups, &members) })
		if err != nil {
			t.Fatal(err)
		}
		is := func(when string, want ...snapshot.Member) {
			t.Helper()
			got := h.world.project(t, h.project)
			if diff := cmp.Diff(want, got.Users); diff != "" || got.Members != nil {
				t.Errorf("%s (-want +got):\n%s%v", when, diff, got.Members)
			}
		}
		h.setRules(t, one(snapshot.Rule{Methods: []string{"GET"}, Path: "/", Groups: []string{"group-0999", "outer"}}))
		is("directly", snapshot.Member{User: ana, TenantID: h.tenant, In: []string{"group-0999"}})
		if err == nil {
			_, err = h.people.SetMember(t.Context(), h.owner, contract.InGroup(made.ID, bob).As("admin"))
		}
		if err == nil {
			_, err = h.people.Nest(t.Context(), h.owner, contract.Nested(made.ID, groups[7].ID))
		}
		if err != nil {
			t.Fatal(err)
		}
		both := []snapshot.Member{
			{User: ana, TenantID: h.tenant, In: []string{"group-0999", "outer"}},
			{User: bob, TenantID: h.tenant, In: []string{"outer"}, Admin: []string{"outer"}},
		}
		slices.SortFunc(both, func(a, b snapshot.Member) int { return strings.Compare(a.User, b.User) })
		is("nested, and an admin", both...)
		client := contract.AppClientPath{Client: h.client}
		if _, err := h.appClients.DeleteClient(t.Context(), h.owner, client); err != nil {
			t.Fatal(err)
		}
		is("without an app client")
	})
}
