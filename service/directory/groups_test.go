package directory_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"postern/models"
	"postern/platform/fault"
	"postern/service/directory"
	"postern/testkit/state"
)

func TestNestedGroupsAreNoCircles(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		all, eng, ops := w.group(t, "all"), w.group(t, "eng"), w.group(t, "ops")
		ana := w.user(t, "ana@example.com", ops)
		must[directory.GroupDetail](t)(w.Nest(t.Context(), w.owner, all, eng))
		must[directory.GroupDetail](t)(w.Nest(t.Context(), w.owner, eng, ops))
		for pair, way := range map[[2]string]string{
			{ops, all}: "A group cannot contain itself: ops is in eng, which is in all already.",
			{eng, all}: "A group cannot contain itself: eng is in all already.",
			{all, all}: "A group cannot contain itself.",
		} {
			_, err := w.Nest(t.Context(), w.owner, pair[0], pair[1])
			is(t, err, "group_cycle")
			if known, _ := errors.AsType[*fault.Error](err); known == nil || known.Public != way {
				t.Errorf("%v, want %q", err, way)
			}
		}
		got := must[directory.Profile](t)(w.User(t.Context(), w.owner, ana))
		names := ""
		for _, g := range got.Groups {
			names += g.Name + ":" + g.Role + " "
		}
		if names != "all: eng: ops:member " {
			t.Errorf("effective groups %q", names)
		}
		if err := w.Unnest(t.Context(), w.owner, all, eng); err != nil {
			t.Fatal(err)
		}
		must[directory.GroupDetail](t)(w.Nest(t.Context(), w.owner, ops, all))
	})
}

// Each of many pairs is nested both ways at once: one of the two has to lose.
func TestTwoAtOnceNestNoCircle(t *testing.T) {
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
					_, errs[i] = service.Nest(t.Context(), w.owner, pair[0], pair[1])
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

func TestMembersAndRoles(t *testing.T) {
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
		must[directory.GroupDetail](t)(w.SetMember(t.Context(), w.owner, staff, ana, "member"))
		must[directory.GroupDetail](t)(w.SetMember(t.Context(), w.owner, staff, ana, "admin"))
		must[directory.GroupDetail](t)(w.SetMember(t.Context(), w.owner, staff, ana, "member"))
		_, err := w.SetMember(t.Context(), w.owner, staff, ana, "king")
		is(t, err, "invalid_role")
		_, err = w.SetMember(t.Context(), w.owner, staff, "usr_nobody", "member")
		is(t, err, "unknown_user")
		got := must[directory.GroupDetail](
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
		page := must[models.List[directory.Member]](t)(w.Members(t.Context(), w.viewerOf(), staff, models.Page{}))
		if len(page.Items) != 2 || page.Items[0].Role != "member" {
			t.Errorf("the members: %+v", page.Items)
		}
		got = must[directory.GroupDetail](
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
		is(t, w.RemoveMember(t.Context(), w.owner, staff, bob), "not_found")
	})
}
