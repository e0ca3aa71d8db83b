package directory_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/directory"
	"postern/testkit/state"
)

type world struct {
	*directory.Service
	owner, viewer, stranger access.Principal
	team, project, tenant   string
	told                    int
}

func newWorld(t *testing.T, db *models.DB) *world {
	t.Helper()
	now := models.Now()
	team := models.Team{ID: models.NewID("team"), Name: "t", CreatedAt: now}
	project := models.Project{
		ID:            models.NewID("prj"),
		TeamID:        team.ID,
		Name:          "shop",
		FallbackOwner: "shop",
		CreatedAt:     now,
		UpdatedAt:     now,
	}
	tenant := models.Tenant{ID: models.NewID("tnt"), TeamID: &team.ID, Name: "acme", CreatedAt: now, UpdatedAt: now}
	err := db.Write(t.Context(), func(tx *models.Tx) error {
		return tx.Insert(
			&team, &project, &tenant,
			&models.ProjectTenant{ProjectID: project.ID, TenantID: tenant.ID, CreatedAt: now},
		)
	})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{team: team.ID, project: project.ID, tenant: tenant.ID,
		owner: access.Principal{
			Account:  "acc_1",
			HomeTeam: team.ID,
			Roles:    map[string]access.Role{team.ID: access.Owner},
		},
		viewer: access.Principal{
			Account:  "acc_2",
			HomeTeam: team.ID,
			Roles:    map[string]access.Role{team.ID: access.Viewer},
		},
		stranger: access.Principal{
			Account:  "acc_3",
			HomeTeam: "team_x",
			Roles:    map[string]access.Role{"team_x": access.Owner},
		}}
	w.Service = &directory.Service{DB: db, Changed: func(context.Context) { w.told++ }}
	return w
}

func must[T any](t *testing.T) func(T, error) T {
	return func(out T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
}

func ref[T any](v T) *T { return &v }

func (w *world) user(t *testing.T, email string, groups ...string) string {
	t.Helper()
	return must[directory.Profile](
		t,
	)(
		w.CreateUser(t.Context(), w.owner, w.tenant, directory.NewUser{Email: email, Groups: groups}),
	).ID
}

func (w *world) group(t *testing.T, name string) string {
	t.Helper()
	return must[directory.GroupDetail](
		t,
	)(
		w.CreateGroup(t.Context(), w.owner, w.tenant, directory.GroupInput{Name: &name}),
	).ID
}

func (w *world) arrive(t *testing.T, email string, verified bool) (models.EndUser, error) {
	t.Helper()
	var user models.EndUser
	err := w.DB.Write(t.Context(), func(tx *models.Tx) (err error) {
		user, _, err = directory.Arrive(
			tx,
			directory.Arrival{
				Tenant:        w.tenant,
				Issuer:        "https://id.example",
				Subject:       email,
				Email:         email,
				EmailVerified: verified,
			},
			models.Now(),
		)
		return err
	})
	return user, err
}

func (w *world) revisions(t *testing.T) int64 {
	t.Helper()
	return must[models.Revision](t)(w.DB.Read(t.Context()).LastRevision()).ID
}

func is(t *testing.T, err error, code string) {
	t.Helper()
	if fault.CodeOf(err) != code {
		t.Errorf("got %v, want %s", err, code)
	}
}

func TestWhoIsExpectedBecomesThatUser(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		staff := w.group(t, "staff")
		id := w.user(t, "Ana@Example.com", staff)
		_, err := w.CreateUser(t.Context(), w.owner, "acme", directory.NewUser{Email: "ana@example.com"})
		is(t, err, "email_taken")

		if user, err := w.arrive(t, "ana@example.com", true); err != nil || user.ID != id ||
			user.State != directory.Active {
			t.Fatalf("%+v %v", user, err)
		}
		got := must[directory.Profile](t)(w.User(t.Context(), w.owner, id))
		if len(got.Identities) != 1 || len(got.Groups) != 1 || got.Groups[0].Name != "staff" ||
			got.Groups[0].Role != "member" ||
			got.LastLoginAt == nil {
			t.Errorf("%+v", got)
		}
		if user, err := w.arrive(t, "eve@example.com", false); err != nil || user.ID == id {
			t.Errorf("%+v %v", user, err)
		}
	})
}

// Who is frozen stays out, whether they have been here or not: neither as somebody
// new nor by signing in again.
func TestFrozenUsersStayOut(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		expected, known := w.user(t, "ana@example.com"), w.user(t, "bob@example.com")
		must[models.EndUser](t)(w.arrive(t, "bob@example.com", true))
		for _, id := range []string{expected, known} {
			before := w.revisions(t)
			if got := must[directory.Profile](t)(w.Freeze(t.Context(), w.owner, id)); got.State != directory.Frozen {
				t.Errorf("state %s", got.State)
			}
			if w.revisions(t) == before {
				t.Error("no gateway is told of it")
			}
		}
		for _, email := range []string{"ana@example.com", "bob@example.com"} {
			_, err := w.arrive(t, email, true)
			is(t, err, "user_frozen")
		}
		for id, want := range map[string]string{expected: directory.Invited, known: directory.Active} {
			if got := must[directory.Profile](t)(w.Unfreeze(t.Context(), w.owner, id)); got.State != want {
				t.Errorf("unfrozen to %s, want %s", got.State, want)
			}
		}
		if user := must[models.EndUser](t)(w.arrive(t, "ana@example.com", true)); user.ID != expected {
			t.Error("came as somebody else")
		}
	})
}

func TestUsersAreListedByWhatIsAsked(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		staff := w.group(t, "staff")
		ana, bob := w.user(t, "ana@example.com", staff), w.user(t, "b_b@example.org")
		must[directory.Profile](t)(w.Freeze(t.Context(), w.owner, bob))
		for _, tt := range []struct {
			filter models.UserFilter
			want   string
		}{
			{models.UserFilter{State: "frozen"}, bob}, {models.UserFilter{State: "invited"}, ana}, {models.UserFilter{Email: "ANA@example.com"}, ana},
			{models.UserFilter{Query: "EXAMPLE.org"}, bob}, {models.UserFilter{Query: "_b"}, bob}, {models.UserFilter{Group: staff}, ana},
			{models.UserFilter{UserName: "ana@example.com"}, ana}, {models.UserFilter{Query: "%"}, ""},
		} {
			page := must[directory.UserPage](t)(w.Users(t.Context(), w.owner, w.tenant, tt.filter, "", 0))
			got := ""
			for _, u := range page.Users {
				got += u.ID
			}
			if got != tt.want {
				t.Errorf("%+v: %q, want %q", tt.filter, got, tt.want)
			}
		}
		first := must[directory.UserPage](t)(w.Users(t.Context(), w.owner, w.tenant, models.UserFilter{}, "", 1))
		second := must[directory.UserPage](
			t,
		)(
			w.Users(t.Context(), w.owner, w.tenant, models.UserFilter{}, first.Next, 1),
		)
		if first.Users[0].ID != bob || second.Users[0].ID != ana || second.Next != "" {
			t.Errorf("%+v %+v", first, second)
		}
	})
}

func TestADeletedUserLeavesNothing(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		id := w.user(t, "ana@example.com", w.group(t, "staff"))
		must[models.EndUser](t)(w.arrive(t, "ana@example.com", true))
		if err := w.DeleteUser(t.Context(), w.owner, id); err != nil {
			t.Fatal(err)
		}
		_, err := w.User(t.Context(), w.owner, id)
		is(t, err, "not_found")
		if user := must[models.EndUser](t)(w.arrive(t, "ana@example.com", true)); user.ID == id {
			t.Error("they are still there")
		}
	})
}

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
		_, err := w.SetMember(t.Context(), w.owner, staff, ana, "admin")
		is(t, err, "not_available_yet")
		_, err = w.SetMember(t.Context(), w.owner, staff, ana, "king")
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
		page := must[directory.MemberPage](t)(w.Members(t.Context(), w.viewerOf(), staff, "", 0))
		if len(page.Members) != 2 || page.Members[0].Role != "member" {
			t.Errorf("the members: %+v", page.Members)
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

func (w *world) viewerOf() access.Principal { return w.viewer }

func TestInviteOnlyTenantsLetInWhoIsApproved(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		staff := w.group(t, "staff")
		if err := w.SetInviteOnly(t.Context(), w.owner, w.tenant, true); err != nil {
			t.Fatal(err)
		}
		_, err := w.arrive(t, "ana@example.com", true)
		is(t, err, "not_invited")
		approval := must[directory.Approval](
			t,
		)(
			w.Approve(
				t.Context(), w.owner, w.tenant,
				directory.NewApproval{Kind: "domain", Value: "example.com", Groups: []string{staff}},
			),
		)
		_, err = w.Approve(t.Context(), w.owner, w.tenant, directory.NewApproval{Kind: "domain", Value: "example.com"})
		is(t, err, "approved_already")
		_, err = w.arrive(t, "ana@example.com", false)
		is(t, err, "not_invited")
		ana := must[models.EndUser](t)(w.arrive(t, "ana@example.com", true))
		if got := must[directory.Profile](t)(w.User(t.Context(), w.owner, ana.ID)); len(got.Groups) != 1 {
			t.Errorf("%+v", got)
		}
		if err := w.Disapprove(t.Context(), w.owner, w.tenant, approval.ID); err != nil {
			t.Fatal(err)
		}
		_, err = w.arrive(t, "bob@example.com", true)
		is(t, err, "not_invited")
		entry := must[directory.Entry](t)(w.Entry(t.Context(), w.viewer, w.tenant))
		if !entry.InviteOnly || len(entry.Approvals) != 0 {
			t.Errorf("%+v", entry)
		}
	})
}

// Every rule asks first, and every change leaves one entry that says what changed.
func TestEveryChangeIsGuardedAndRecorded(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		ctx := t.Context()
		user, spare := w.user(t, "ana@example.com"), w.user(t, "bob@example.com")
		group, inner, last := w.group(t, "staff"), w.group(t, "inner"), w.group(t, "last")
		approval := must[directory.Approval](
			t,
		)(
			w.Approve(ctx, w.owner, w.tenant, directory.NewApproval{Kind: "email", Value: "eve@example.com"}),
		)
		for name, change := range map[string]func(access.Principal) error{
			"freeze": func(p access.Principal) error { _, err := w.Freeze(ctx, p, user); return err },
			"update": func(p access.Principal) error {
				_, err := w.UpdateUser(ctx, p, user, "", directory.UserChange{Name: ref("Ana")})
				return err
			},
			"delete": func(p access.Principal) error { return w.DeleteUser(ctx, p, spare) },
			"create": func(p access.Principal) error {
				_, err := w.CreateUser(ctx, p, w.tenant, directory.NewUser{Email: "zoe@example.com"})
				return err
			},
			"group": func(p access.Principal) error {
				_, err := w.CreateGroup(ctx, p, w.tenant, directory.GroupInput{DisplayName: ref("New Ones")})
				return err
			},
			"rename": func(p access.Principal) error {
				_, err := w.UpdateGroup(ctx, p, group, "", directory.GroupInput{DisplayName: ref("Staff")})
				return err
			},
			"member": func(p access.Principal) error { _, err := w.SetMember(ctx, p, group, user, "member"); return err },
			"nest":   func(p access.Principal) error { _, err := w.Nest(ctx, p, group, inner); return err },
			"replace": func(p access.Principal) error {
				_, err := w.ReplaceGroup(ctx, p, inner, "", directory.Replacement{Add: []string{user}})
				return err
			},
			"deletegroup": func(p access.Principal) error { return w.DeleteGroup(ctx, p, last) },
			"inviteonly":  func(p access.Principal) error { return w.SetInviteOnly(ctx, p, w.tenant, true) },
			"approve": func(p access.Principal) error {
				_, err := w.Approve(ctx, p, w.tenant, directory.NewApproval{Kind: "domain", Value: "example.net"})
				return err
			},
			"disapprove": func(p access.Principal) error { return w.Disapprove(ctx, p, w.tenant, approval.ID) },
		} {
			is(t, change(access.Principal{}), "credentials_required")
			is(t, change(w.viewer), "not_allowed")
			is(t, change(w.stranger), "not_found")
			before := must[[]models.AuditEntry](t)(db.Read(ctx).AuditOf(w.team, 1000))
			if err := change(w.owner); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			after := must[[]models.AuditEntry](t)(db.Read(ctx).AuditOf(w.team, 1000))
			if len(after) != len(before)+1 {
				t.Errorf("%s left %d entries", name, len(after)-len(before))
				continue
			}
			if entry := newest(before, after); len(entry.Changes) == 0 || entry.Action != "user.update" ||
				entry.Object == "" {
				t.Errorf("%s: %+v", name, entry)
			}
		}
	})
}

func newest(before, after []models.AuditEntry) models.AuditEntry {
	known := map[string]bool{}
	for _, e := range before {
		known[e.ID] = true
	}
	for _, e := range after {
		if !known[e.ID] {
			return e
		}
	}
	return models.AuditEntry{}
}
