package oidc_test

import (
	"net/http"
	"testing"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/service/directory"
	"postern/service/serving"
	"postern/testkit/state"
)

// left returns the second up to which gateways refuse a user's tokens, from the next snapshot; 0 for none.
func (s *app) left(user string) int64 {
	s.t.Helper()
	tenant, err := s.db.Read(s.t.Context()).TenantByID(s.tenant)
	if err != nil {
		s.t.Fatal(err)
	}
	compiled, err := serving.Compile(s.db.Read(s.t.Context()), *tenant.ProjectID, s.url)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, one := range compiled.GroupsLeft {
		if one.User == user {
			return one.At
		}
	}
	return 0
}

// A token names the groups of the user when it was issued. Gateways refuse it once the user has left one of them,
// and a refreshed one is newer than that, even within the same second.
func TestGroupsLeft(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newLoginApp(t, db, contract.AppClientSettings{})
		token := s.signedIn()
		user := claims(t, token.Access)["sub"].(string)
		people, ctx := s.server.Directory, t.Context()
		group := func(name string) string {
			t.Helper()
			made, err := people.CreateGroup(ctx, s.owner, contract.NewGroup{Name: name}.In(s.tenant))
			if err != nil {
				t.Fatal(err)
			}
			return made.ID
		}
		must := func(_ any, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		staff, eu := group("staff"), group("eu")
		must(people.SetMember(ctx, s.owner, contract.InGroup(staff, user).As(directory.RoleAdmin)))
		must(people.Nest(ctx, s.owner, contract.Nested(eu, staff)))
		if at := s.left(user); at != 0 {
			t.Errorf("joining refuses tokens up to %d", at)
		}
		for _, leave := range []struct {
			name string
			do   func() error
		}{
			{"ends to be an admin", func() error {
				_, err := people.SetMember(ctx, s.owner, contract.InGroup(staff, user).As(directory.RoleMember))
				return err
			}},
			{"the group leaves another", func() error {
				_, err := people.Unnest(ctx, s.owner, contract.Nested(eu, staff))
				return err
			}},
			{"leaves", func() error {
				_, err := people.RemoveMember(ctx, s.owner, contract.InGroup(staff, user))
				return err
			}},
			{"the group is deleted", func() error {
				must(people.SetMember(ctx, s.owner, contract.InGroup(staff, user).As(directory.RoleMember)))
				_, err := people.DeleteGroup(ctx, s.owner, contract.GroupPath{Group: staff})
				return err
			}},
		} {
			forget(t, db, user)
			must(nil, leave.do())
			at := s.left(user)
			if at == 0 {
				t.Errorf("%s: earlier tokens are accepted", leave.name)
			}
			token = s.refresh(token.Refresh)
			if token.status != http.StatusOK {
				t.Fatalf("%s: refreshing gives %+v", leave.name, token)
			}
			said := claims(t, token.Access)
			grouped, ordered := said["groups_at"].(float64)
			if !ordered {
				grouped = said["iat"].(float64)
			}
			if int64(grouped) <= at {
				t.Errorf("%s: a refreshed token of %d is refused, as those up to %d", leave.name, int64(grouped), at)
			}
			for kind, issued := range map[string]any{"access": said["iat"], "ID": claims(t, token.ID)["iat"]} {
				if now := time.Now(); int64(issued.(float64)) > now.Unix() {
					t.Errorf("%s: iat of the %s token is %v, and it is %v", leave.name, kind, issued, now)
				}
			}
		}
	})
}

// forget lets a user have left no group.
func forget(t *testing.T, db *models.DB, user string) {
	t.Helper()
	err := db.Write(t.Context(), func(tx *models.Tx) error {
		_, err := tx.SQL().ExecContext(t.Context(), "UPDATE end_users SET groups_left_at = NULL WHERE id = '"+user+"'")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
