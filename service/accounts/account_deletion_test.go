package accounts_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/accounts"
	"postern/testkit"
	"postern/testkit/state"
)

// An account goes with everything of it, once no team needs it any more.
func TestDeleteAccount(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newTestTeam(t, db)
		bob := o.joins("bob", access.Owner)
		invitation := contract.NewInvitation{Role: string(access.Viewer)}.In(o.team)
		if _, err := o.s.Invite(t.Context(), bob, invitation); err != nil {
			t.Fatal(err)
		}
		own, err := o.s.CreateTeam(t.Context(), bob, contract.TeamCreation{Body: contract.NewTeam{Name: "Bob's own"}})
		if err != nil {
			t.Fatal(err)
		}
		bob = o.again("bob")
		erase := func(confirm, word string) error { return o.deleteAccount(bob, confirm, word) }
		for what, tt := range map[string]struct{ confirm, password, code string }{
			"another address":  {"ana@example.com", password, "wrong_confirmation"},
			"another password": {"bob@example.com", "four other words", "wrong_password"},
			"no password":      {"bob@example.com", "", "wrong_password"},
			"a team is left":   {" Bob@Example.com", password, "only_owner"},
		} {
			if err := erase(tt.confirm, tt.password); fault.CodeOf(err) != tt.code {
				t.Errorf("%s: %v, want %s", what, err, tt.code)
			}
		}
		d, err := o.s.AccountDeletion(t.Context(), bob, contract.None{})
		if err != nil || len(d.Teams) != 1 || len(d.OnlyOwner) != 1 || d.OnlyOwner[0] != "Bob's own" || !d.Password {
			t.Errorf("goes along: %+v, %v", d, err)
		}
		if err := o.deleteTeam(bob, own.ID, "Bob's own"); err != nil {
			t.Fatal(err)
		}
		if err := erase("bob@example.com", password); err != nil {
			t.Fatal(err)
		}
		if err := erase("bob@example.com", password); err == nil {
			t.Error("deleted twice")
		}
		o.checkForgotten(bob.Account)
	})
}

// again is the principal of a member's newest session.
func (o *testTeam) again(name string) access.Principal {
	o.t.Helper()
	session, err := o.s.SignIn(o.t.Context(), name+"@example.com", password, accounts.From{RemoteAddr: name})
	if err != nil {
		o.t.Fatal(err)
	}
	return o.who(session)
}

// checkForgotten checks that nothing names an account any more, and that its address is free.
func (o *testTeam) checkForgotten(account string) {
	o.t.Helper()
	tx := o.db.Read(o.t.Context())
	if _, err := tx.AccountByID(account); !errors.Is(err, models.ErrNotFound) {
		o.t.Errorf("the account: %v", err)
	}
	for what, count := range testkit.ByName(map[string]func() (int, error){
		"memberships": func() (int, error) { list, err := tx.MembershipsOf(account); return len(list), err },
		"sign-ins":    func() (int, error) { list, err := tx.LinkedTo(account); return len(list), err },
		"invitations": func() (int, error) {
			list, err := tx.OpenInvitationsBy(o.team, account, time.Now().Add(-time.Hour))
			return len(list), err
		},
	}) {
		if n, err := count(); err != nil || n != 0 {
			o.t.Errorf("%d %s are left, %v", n, what, err)
		}
	}
	if _, err := o.s.SignIn(o.t.Context(), "bob@example.com", password, accounts.From{}); err == nil {
		o.t.Error("the account can sign in")
	}
	if again := o.joins("bob", access.Viewer); again.Account == account {
		o.t.Error("the address leads to the deleted account")
	}
}

// The only operator stays, and of two owners who delete themselves at once one stays.
func TestDeleteAccount_last(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newTestTeam(t, db)
		bob := o.joins("bob", access.Owner)
		err := o.deleteAccount(o.ana, "ana@example.com", password)
		if fault.CodeOf(err) != "last_operator" {
			t.Errorf("the only operator: %v", err)
		}
		if err := o.s.SetOperator(t.Context(), "bob@example.com", true); err != nil {
			t.Fatal(err)
		}
		var wait sync.WaitGroup
		var mu sync.Mutex
		gone := 0
		for _, one := range []struct {
			who   access.Principal
			email string
		}{{o.ana, "ana@example.com"}, {bob, "bob@example.com"}} {
			wait.Go(func() {
				if err := o.deleteAccount(one.who, one.email, password); err == nil {
					mu.Lock()
					gone++
					mu.Unlock()
				} else if fault.KindOf(err) != fault.Conflict {
					t.Errorf("%s: %v", one.email, err)
				}
			})
		}
		wait.Wait()
		if gone != 1 {
			t.Errorf("%d of two owners are gone, want one", gone)
		}
	})
}
