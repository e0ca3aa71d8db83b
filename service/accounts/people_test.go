package accounts_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/accounts"
	"postern/testkit/state"
)

// testTeam is a team of Ana's, and ways to let others in.
type testTeam struct {
	t    *testing.T
	db   *models.DB
	s    *accounts.Service
	ana  access.Principal
	team string
}

func newTestTeam(t *testing.T, db *models.DB) *testTeam {
	t.Helper()
	o := &testTeam{t: t, db: db, s: &accounts.Service{DB: db, PasswordCost: cheap, ProvesEmail: true}}
	o.ana = o.who(firstAccount(t, o.s))
	o.team = o.ana.HomeTeam
	return o
}

func (o *testTeam) who(session string) access.Principal {
	o.t.Helper()
	p, err := o.s.BySession(o.t.Context(), session)
	if err != nil || p.Anonymous() {
		o.t.Fatalf("no principal: %v", err)
	}
	return p
}

func (o *testTeam) path() contract.TeamPath { return contract.TeamPath{Team: o.team} }

func (o *testTeam) leave(p access.Principal) error {
	_, err := o.s.Leave(o.t.Context(), p, o.path())
	return err
}

func (o *testTeam) remove(account string) error {
	_, err := o.s.RemoveMember(o.t.Context(), o.ana, contract.MemberOf(o.team, account))
	return err
}

func (o *testTeam) revoke(invitation string) error {
	_, err := o.s.RevokeInvitation(o.t.Context(), o.ana, contract.InvitationOf(o.team, invitation))
	return err
}

func (o *testTeam) deleteTeam(p access.Principal, team, confirm string) error {
	_, err := o.s.DeleteTeam(o.t.Context(), p, contract.TeamRemoval{
		TeamPath: contract.TeamPath{Team: team}, Confirm: confirm,
	})
	return err
}

func (o *testTeam) deleteAccount(p access.Principal, confirm, password string) error {
	_, err := o.s.DeleteAccount(o.t.Context(), p, contract.AccountRemoval{
		Body: contract.AccountProof{Confirm: confirm, Password: contract.Secret(password)},
	})
	return err
}

func (o *testTeam) rename(p access.Principal, ifMatch, name string) (contract.Team, error) {
	return o.s.UpdateTeam(o.t.Context(), p, contract.TeamUpdate{
		TeamPath:  o.path(),
		Condition: contract.Condition{IfMatch: ifMatch},
		Body:      contract.TeamChange{Name: &name},
	})
}

func (o *testTeam) setRole(account, ifMatch string, role access.Role) (contract.TeamMember, error) {
	text := string(role)
	return o.s.UpdateMember(o.t.Context(), o.ana, contract.TeamMemberUpdate{
		TeamMemberPath: contract.MemberOf(o.team, account),
		Condition:      contract.Condition{IfMatch: ifMatch},
		Body:           contract.TeamMemberChange{Role: &text},
	})
}

func (o *testTeam) invite(role access.Role, email string) string {
	o.t.Helper()
	in := contract.NewInvitation{Role: string(role), Email: email}
	invitation, err := o.s.Invite(o.t.Context(), o.ana, in.In(o.team))
	if err != nil {
		o.t.Fatal(err)
	}
	return invitation.Code.Reveal()
}

// joins signs up a new member of Ana's team.
func (o *testTeam) joins(name string, role access.Role) access.Principal {
	o.t.Helper()
	session, err := o.s.SignUp(o.t.Context(), accounts.SignUp{
		Email:    name + "@example.com",
		Name:     name,
		Password: password,
		From:     accounts.From{RemoteAddr: name},
	},
		accounts.Ticket{Invitation: o.invite(role, "")})
	if err != nil {
		o.t.Fatal(err)
	}
	return o.who(session)
}

// workspace creates what an anonymous POST /proxy creates, without its project.
func (o *testTeam) workspace() (made accounts.Workspace) {
	o.t.Helper()
	err := o.db.Write(o.t.Context(), func(tx *models.Tx) (err error) {
		made, err = accounts.NewWorkspace(tx, time.Hour)
		return err
	})
	if err != nil {
		o.t.Fatal(err)
	}
	return made
}

func wants(t *testing.T, what string, err error, code string) {
	t.Helper()
	if got := fault.CodeOf(err); got != code {
		t.Errorf("%s: got %q (%v), want %q", what, got, err, code)
	}
}

func TestInvitation_once(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newTestTeam(t, db)
		var people []access.Principal
		const many = 100
		for i := range many {
			now := models.Now()
			account := models.Account{
				ID:        models.NewID("acc"),
				Email:     fmt.Sprintf("p%d@example.com", i),
				Name:      "P",
				CreatedAt: now,
			}
			if err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(&account) }); err != nil {
				t.Fatal(err)
			}
			people = append(people, access.Principal{Account: account.ID})
		}
		code := o.invite(access.Viewer, "")
		var in, late atomic.Int32
		var wg sync.WaitGroup
		for _, p := range people {
			wg.Go(func() {
				switch _, err := o.s.Accept(t.Context(), p, contract.AcceptanceOf(code)); {
				case err == nil:
					in.Add(1)
				case fault.CodeOf(err) == "invitation_over":
					late.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if in.Load() != 1 || late.Load() != many-1 {
			t.Errorf("%d came in, %d were late", in.Load(), late.Load())
		}
		if members, err := o.s.Members(t.Context(), o.ana, contract.TeamMemberList{TeamPath: o.path()}); err != nil {
			t.Errorf("members: %v", err)
		} else if len(members.Items) != 2 {
			t.Errorf("the team has %d members", len(members.Items))
		}
	})
}

func TestInvitation_email(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newTestTeam(t, db)
		_, err := o.s.Accept(t.Context(), o.ana, contract.AcceptanceOf(o.invite(access.Member, "")))
		wants(t, "a member already", err, "already_member")
		_, err = o.s.Accept(t.Context(), access.Principal{}, contract.AcceptanceOf(o.invite(access.Member, "")))
		wants(t, "no credential", err, "credentials_required")

		code := o.invite(access.Member, "Vic@example.com")
		mallory := accounts.SignUp{Email: "mallory@example.com", Name: "M", Password: password}
		_, err = o.s.SignUp(t.Context(), mallory, accounts.Ticket{Invitation: code})
		wants(t, "another address", err, "email_not_proven")
		if _, err := db.Read(t.Context()).AccountByEmail(mallory.Email); !errors.Is(err, models.ErrNotFound) {
			t.Errorf("a refused sign-up left an account: %v", err)
		}
		mallory.Email = "VIC@example.com"
		_, err = o.s.SignUp(t.Context(), mallory, accounts.Ticket{Invitation: code})
		wants(t, "the right address with a password", err, "email_not_proven")

		workspace := contract.NewInvitation{Role: string(access.Workspace)}
		if _, err := o.s.Invite(t.Context(), o.ana, workspace.In(o.team)); fault.KindOf(err) != fault.Invalid {
			t.Errorf("the role of a workspace key: %v", err)
		}
	})
}

func TestInvitation_expiry(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newTestTeam(t, db)
		revoked, err := o.s.Invite(t.Context(), o.ana, contract.NewInvitation{Role: string(access.Member)}.In(o.team))
		if err != nil {
			t.Fatal(err)
		}
		if left := time.Until(revoked.ExpiresAt); left > 7*24*time.Hour || left < 6*24*time.Hour {
			t.Errorf("an invitation lives for %s", left)
		}
		if err := o.revoke(revoked.ID); err != nil {
			t.Fatal(err)
		}
		now := models.Now()
		expired := models.Invitation{
			ID:        models.NewID("inv"),
			TeamID:    o.team,
			Role:      "member",
			CodeHash:  accounts.HashForTest("expired"),
			CreatedBy: o.ana.Account,
			CreatedAt: now.Add(-time.Hour),
			ExpiresAt: now.Add(-time.Second),
		}
		if err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(&expired) }); err != nil {
			t.Fatal(err)
		}
		for _, code := range []string{revoked.Code.Reveal(), "expired", "never was", ""} {
			_, err := o.s.PreviewInvitation(t.Context(), code)
			wants(t, "look at "+code, err, "invitation_over")
			_, err = o.s.SignUp(t.Context(), accounts.SignUp{
				Email:    "x@example.com",
				Name:     "X",
				Password: password,
			}, accounts.Ticket{Invitation: code})
			if code != "" {
				wants(t, "sign up with "+code, err, "invitation_over")
			}
		}
		if list, err := o.s.Invitations(t.Context(), o.ana, contract.InvitationList{TeamPath: o.path()}); err != nil {
			t.Errorf("invitations: %v", err)
		} else if len(list.Items) != 0 {
			t.Errorf("still listed: %v", list.Items)
		}
		err = o.revoke(revoked.ID)
		wants(t, "revoke again", err, "not_found")
	})
}

func TestMembers_lastOwner(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newTestTeam(t, db)
		wants(t, "leave", o.leave(o.ana), "last_owner")
		wants(t, "remove oneself", o.remove(o.ana.Account), "last_owner")
		_, err := o.setRole(o.ana.Account, "", access.Member)
		wants(t, "step down", err, "last_owner")

		bob := o.joins("bob", access.Owner)
		var left, stayed atomic.Int32
		var wg sync.WaitGroup
		for _, p := range []access.Principal{o.ana, bob} {
			wg.Go(func() {
				switch err := o.leave(p); {
				case err == nil:
					left.Add(1)
				case fault.CodeOf(err) == "last_owner":
					stayed.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if left.Load() != 1 || stayed.Load() != 1 {
			t.Errorf("of two owners who left at once %d left and %d stayed", left.Load(), stayed.Load())
		}
	})
}

// A role that was taken away since the request began no longer counts.
func TestMembers_changedRole(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newTestTeam(t, db)
		bob := o.joins("bob", access.Owner)
		member, err := o.setRole(bob.Account, "", access.Viewer)
		if err != nil || member.Role != string(access.Viewer) {
			t.Fatalf("%v, %v", member, err)
		}
		_, err = o.rename(bob, "", "Mine")
		wants(t, "demoted before the change", err, "not_allowed")
		if err := o.remove(bob.Account); err != nil {
			t.Fatal(err)
		}
		_, err = o.rename(bob, "", "Mine")
		wants(t, "removed before the change", err, "not_found")
		wants(t, "leave after that", o.leave(bob), "not_found")
	})
}

func TestTeam_staleChange(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newTestTeam(t, db)
		bob := o.joins("bob", access.Viewer)
		team, err := o.s.Team(t.Context(), o.ana, o.path())
		if err != nil {
			t.Fatal(err)
		}
		if _, err = o.rename(o.ana, team.ETag, "Shop"); err != nil {
			t.Fatal(err)
		}
		_, err = o.rename(o.ana, team.ETag, "Books")
		wants(t, "rename", err, "changed_concurrently")
		was, err := o.setRole(bob.Account, "", access.Member)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = o.setRole(bob.Account, was.ETag, access.Owner); err != nil {
			t.Fatal(err)
		}
		_, err = o.setRole(bob.Account, was.ETag, access.Viewer)
		wants(t, "change of a role", err, "changed_concurrently")
	})
}
