package directory_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/directory"
	"postern/testkit/state"
)

// recorder keeps the events of committed and of failed changes, as "event change".
type recorder struct {
	list []string
	last map[string]any
	team string
	err  error
}

func (r *recorder) Emit(_ context.Context, _ *models.Tx, team, event string, data map[string]any) error {
	name := event
	if change, _ := data["change"].(string); change != "" {
		name += " " + change
	}
	r.list, r.last, r.team = append(r.list, name), maps.Clone(data), team
	return r.err
}

// step is a change and the events that it sends.
type step struct {
	what string
	do   func() error
	want []string
}

// subject has the objects that the steps of a test change.
type subject struct {
	*world
	ctx                context.Context
	user, group, inner string
}

func named(v string) directory.GroupInput {
	return directory.GroupInput{GroupChange: contract.GroupChange{Name: &v}}
}

func (s *subject) create(into *string, name string) func() error {
	return func() error {
		made, err := s.CreateGroup(s.ctx, s.owner, contract.NewGroup{Name: name}.In(s.tenant))
		*into = made.ID
		return err
	}
}

func (s *subject) replace(in directory.Replacement) error {
	_, err := s.ReplaceGroup(s.ctx, s.owner, s.group, "", in)
	return err
}

func (s *subject) freeze() error {
	_, err := s.Freeze(s.ctx, s.owner, contract.UserPath{User: s.user})
	return err
}

func (s *subject) groupSteps() []step {
	return []step{
		{"create a group", s.create(&s.group, "staff"), []string{"group.changed created"}},
		{"create another", s.create(&s.inner, "night"), []string{"group.changed created"}},
		{"nest", func() error {
			_, err := s.Nest(s.ctx, s.owner, contract.Nested(s.group, s.inner))
			return err
		}, []string{"group.changed members"}},
		{"rename", func() error {
			in := contract.GroupUpdate{GroupPath: contract.GroupPath{Group: s.group}, Body: named("crew").GroupChange}
			_, err := s.UpdateGroup(s.ctx, s.owner, in)
			return err
		}, []string{"group.changed updated"}},
		{"replace nothing", func() error {
			return s.replace(directory.Replacement{GroupInput: named("crew")})
		}, nil},
		{"replace name and members", func() error {
			return s.replace(directory.Replacement{GroupInput: named("staff"), Clear: true, Add: []string{s.inner}})
		}, []string{"group.changed updated", "group.changed members"}},
		{"delete", func() error {
			_, err := s.DeleteGroup(s.ctx, s.owner, contract.GroupPath{Group: s.inner})
			return err
		}, []string{"group.changed deleted"}},
	}
}

func (s *subject) userSteps() []step {
	return []step{
		{"create a user in a group", func() error {
			in := contract.NewUser{Email: "ana@example.com", Groups: []string{s.group}}
			made, err := s.CreateUser(s.ctx, s.owner, in.In(s.tenant))
			s.user = made.ID
			return err
		}, []string{"user.created", "group.changed members"}},
		{"rename", func() error {
			text := "Ana"
			_, err := s.UpdateUser(s.ctx, s.owner, contract.UserUpdate{
				UserPath: contract.UserPath{User: s.user}, Body: contract.UserChange{Name: &text},
			})
			return err
		}, nil},
		{"remove the member", func() error {
			_, err := s.RemoveMember(s.ctx, s.owner, contract.InGroup(s.group, s.user))
			return err
		}, []string{"group.changed members"}},
		{"set the member", func() error {
			_, err := s.SetMember(s.ctx, s.owner, contract.InGroup(s.group, s.user).As(directory.RoleMember))
			return err
		}, []string{"group.changed members"}},
		{"freeze", s.freeze, []string{"user.frozen"}},
		{"freeze again", s.freeze, nil},
		{"unfreeze", func() error {
			_, err := s.Unfreeze(s.ctx, s.owner, contract.UserPath{User: s.user})
			return err
		}, nil},
		{"delete", func() error {
			_, err := s.DeleteUser(s.ctx, s.owner, contract.UserPath{User: s.user})
			return err
		}, []string{"group.changed members", "user.deleted"}},
		{"create another", func() error {
			made, err := s.CreateUser(s.ctx, s.owner, contract.NewUser{Email: "bob@example.com"}.In(s.tenant))
			s.user = made.ID
			return err
		}, []string{"user.created"}},
		{"who deletes their own account", func() error {
			return s.DeleteSelf(s.ctx, s.user)
		}, []string{"user.deleted"}},
	}
}

func TestChange_events(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		to := &recorder{}
		w.Events = to
		s := &subject{world: w, ctx: t.Context()}
		for _, tt := range slices.Concat(s.groupSteps(), s.userSteps()) {
			to.list = nil
			if err := tt.do(); err != nil {
				t.Fatalf("%s: %v", tt.what, err)
			}
			if !slices.Equal(to.list, tt.want) {
				t.Errorf("%s: events %q, want %q", tt.what, to.list, tt.want)
			}
		}
		want := map[string]any{
			"user":        s.user,
			"state":       directory.Invited,
			"external_id": "",
			"tenant":      w.tenant,
			"tenant_name": "acme",
		}
		if diff := cmp.Diff(want, to.last); diff != "" {
			t.Errorf("data of user.deleted:\n%s", diff)
		}
		if to.team != w.team {
			t.Errorf("the event was sent to the team %s, want %s", to.team, w.team)
		}
	})
}

// A change whose event cannot be queued is not made.
func TestChange_failingEvent(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		w.Events = &recorder{err: errors.New("no queue")}
		_, err := w.CreateUser(t.Context(), w.owner, contract.NewUser{Email: "ana@example.com"}.In(w.tenant))
		if kind := fault.KindOf(err); kind != fault.Internal {
			t.Errorf("kind %d of %v, want %d", kind, err, fault.Internal)
		}
		list, err := w.Users(t.Context(), w.owner, contract.UserList{TenantPath: contract.TenantPath{Tenant: w.tenant}})
		if err != nil {
			t.Fatal(err)
		}
		if len(list.Items) != 0 {
			t.Errorf("%d users were created, want 0", len(list.Items))
		}
	})
}
