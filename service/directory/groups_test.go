package directory_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/directory"
	"postern/testkit/state"
)

func TestNestedGroups_cycles(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		all, eng, ops := w.group(t, "all"), w.group(t, "eng"), w.group(t, "ops")
		ana := w.user(t, "ana@example.com", ops)
		must[contract.Group](t)(w.Nest(t.Context(), w.owner, contract.Nested(all, eng)))
		must[contract.Group](t)(w.Nest(t.Context(), w.owner, contract.Nested(eng, ops)))
		for pair, way := range map[[2]string]string{
			{ops, all}: "A group can't contain itself: ops is already in eng, which is in all.",
			{eng, all}: "A group can't contain itself: eng is already in all.",
			{all, all}: "A group can't contain itself.",
		} {
			_, err := w.Nest(t.Context(), w.owner, contract.Nested(pair[0], pair[1]))
			is(t, err, "group_cycle")
			if known, _ := errors.AsType[*fault.Error](err); known == nil || known.Public != way {
				t.Errorf("%v, want %q", err, way)
			}
		}
		got := must[contract.User](t)(w.User(t.Context(), w.owner, contract.UserPath{User: ana}))
		names := ""
		for _, g := range got.Groups {
			names += g.Name + ":"
			if g.IsDirect() {
				names += *g.Role
			}
			names += " "
		}
		if names != "all: eng: ops:member " {
			t.Errorf("effective groups %q", names)
		}
		if _, err := w.Unnest(t.Context(), w.owner, contract.Nested(all, eng)); err != nil {
			t.Fatal(err)
		}
		must[contract.Group](t)(w.Nest(t.Context(), w.owner, contract.Nested(ops, all)))
	})
}

// Each of many pairs is nested both ways at once: one of the two has to lose.
func TestNestedGroups_concurrent(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		for range 8 {
			a, b := w.group(
				t, "a"+models.NewID("x")[2:12]+models.NewID("x")[20:],
			), w.group(
				t, "b"+models.NewID("x")[20:],
			)
			errs, start := make([]error, 2), make(chan struct{})
			var both sync.WaitGroup
			for i, pair := range [][2]string{{a, b}, {b, a}} {
				both.Go(func() {
					<-start
					service := &directory.Service{DB: db, Changed: func(context.Context) {}}
					_, errs[i] = service.Nest(t.Context(), w.owner, contract.Nested(pair[0], pair[1]))
				})
			}
			close(start)
			both.Wait()
			if (errs[0] == nil) == (errs[1] == nil) {
				t.Fatalf("both or none were nested: %v, %v", errs[0], errs[1])
			}
		}
	})
}

func TestMembers_roles(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		staff, inner, ana, bob := w.group(
			t, "staff",
		), w.group(
			t, "inner",
		), w.user(
			t, "ana@example.com",
		), w.user(
			t, "bob@example.com",
		)
		must[contract.Group](t)(w.SetMember(t.Context(), w.owner, contract.InGroup(staff, ana).As("member")))
		must[contract.Group](t)(w.SetMember(t.Context(), w.owner, contract.InGroup(staff, ana).As("admin")))
		must[contract.Group](t)(w.SetMember(t.Context(), w.owner, contract.InGroup(staff, ana).As("member")))
		_, err := w.SetMember(t.Context(), w.owner, contract.InGroup(staff, ana).As("king"))
		is(t, err, "invalid_role")
		_, err = w.SetMember(t.Context(), w.owner, contract.InGroup(staff, "usr_nobody").As("member"))
		is(t, err, "unknown_user")
		got := must[contract.Group](
			t,
		)(
			w.ReplaceGroup(
				t.Context(), w.owner, staff, "",
				directory.Replacement{Clear: true, Add: []string{ana, bob, inner, bob}},
			),
		)
		if got.Members != 2 || len(got.Children) != 1 {
			t.Errorf("%+v", got)
		}
		page := must[models.List[contract.GroupMember]](t)(w.Members(t.Context(), w.viewerOf(),
			contract.GroupMemberList{GroupPath: contract.GroupPath{Group: staff}}))
		if len(page.Items) != 2 || page.Items[0].Role != "member" {
			t.Errorf("the members: %+v", page.Items)
		}
		got = must[contract.Group](
			t,
		)(
			w.ReplaceGroup(
				t.Context(), w.owner, staff, "",
				directory.Replacement{Remove: []string{bob, inner, "usr_nobody"}},
			),
		)
		if got.Members != 1 || len(got.Children) != 0 {
			t.Errorf("%+v", got)
		}
		_, err = w.RemoveMember(t.Context(), w.owner, contract.InGroup(staff, bob))
		is(t, err, "not_found")
	})
}

func TestOwners(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		staff := w.group(t, "staff")
		set := func(owner, role string) error {
			_, err := w.SetOwner(t.Context(), w.owner, contract.GroupOwnership{
				GroupPath: contract.GroupPath{Group: staff}, Body: contract.NewGroupOwner{Owner: owner, Role: role},
			})
			return err
		}
		for given, code := range map[[2]string]string{
			{"billing/eu", "member"}:     "",
			{"Reports", "member"}:        "",
			{"billing/eu ", "member"}:    "invalid_owner",
			{"", "member"}:               "invalid_owner",
			{"Zoë", "member"}:            "invalid_owner",
			{"usr_0123456789", "member"}: "owner_is_user",
			{"billing-service", "owner"}: "invalid_role",
		} {
			switch err := set(given[0], given[1]); {
			case code != "":
				is(t, err, code)
			case err != nil:
				t.Errorf("%q: %v", given, err)
			}
		}
		if err := set("billing/eu", "admin"); err != nil {
			t.Fatal(err)
		}
		page := must[models.List[contract.GroupOwner]](t)(w.Owners(t.Context(), w.viewerOf(), contract.GroupOwnerList{
			GroupPath: contract.GroupPath{Group: staff}, Sort: "owner",
		}))
		if len(page.Items) != 2 || page.Items[0].Owner != "Reports" || page.Items[0].Role != "member" ||
			page.Items[1].Owner != "billing/eu" || page.Items[1].Role != "admin" || page.Items[1].HasKeys {
			t.Errorf("the app owners: %+v", page.Items)
		}
		page = must[models.List[contract.GroupOwner]](t)(w.Owners(t.Context(), w.viewerOf(), contract.GroupOwnerList{
			GroupPath: contract.GroupPath{Group: staff}, Sort: "-role", Text: "BILL",
		}))
		if len(page.Items) != 1 || page.Items[0].Owner != "billing/eu" {
			t.Errorf("found: %+v", page.Items)
		}
		in := contract.GroupPath{Group: staff}
		if got := must[contract.Group](t)(w.Group(t.Context(), w.owner, in)); got.Owners != 2 || got.Members != 0 {
			t.Errorf("%+v", got)
		}
		// A provisioning system doesn't know apps, and leaves them.
		got := must[contract.Group](t)(
			w.ReplaceGroup(t.Context(), w.owner, staff, "", directory.Replacement{Clear: true}),
		)
		if got.Owners != 2 {
			t.Errorf("after a replacement: %+v", got)
		}
		remove := contract.GroupOwnerRemoval{GroupPath: in, Owner: "billing/eu"}
		if _, err := w.RemoveOwner(t.Context(), w.owner, remove); err != nil {
			t.Error(err)
		}
		_, err := w.RemoveOwner(t.Context(), w.owner, remove)
		is(t, err, "not_found")
		if _, err := w.DeleteGroup(t.Context(), w.owner, in); err != nil {
			t.Error(err)
		}
	})
}
