package accounts_test

import (
	"fmt"
	"slices"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/service/access"
	"postern/service/accounts"
	"postern/testkit"
	"postern/testkit/state"
)

// A removed owner must not be able to return with an invitation they created.
func TestInvitation_inviterRemoved(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newTestTeam(t, db)
		for name, end := range testkit.ByName(map[string]func(bob access.Principal) error{
			"removed": func(bob access.Principal) error {
				return o.remove(bob.Account)
			},
			"left": func(bob access.Principal) error { return o.leave(bob) },
			"demoted": func(bob access.Principal) error {
				_, err := o.setRole(bob.Account, "", access.Member)
				return err
			},
		}) {
			bob := o.joins(name, access.Owner)
			made, err := o.s.Invite(t.Context(), bob, contract.NewInvitation{Role: string(access.Owner)}.In(o.team))
			if err != nil {
				t.Fatal(err)
			}
			others := o.invite(access.Viewer, "")
			if err := end(bob); err != nil {
				t.Fatal(err)
			}
			_, err = o.s.Accept(t.Context(), bob, contract.AcceptanceOf(made.Code.Reveal()))
			wants(t, name+" comes back", err, "invitation_over")
			entries, err := db.Read(t.Context()).AuditOf(o.team, 5)
			if err != nil ||
				!slices.ContainsFunc(
					entries,
					func(e models.AuditEntry) bool { return e.Action == "invitation.revoke" && e.Object == made.ID },
				) {
				t.Errorf("%s: the log says nothing of the invitation: %v", name, err)
			}
			if _, err := o.s.PreviewInvitation(t.Context(), others); err != nil {
				t.Errorf("%s: Ana's invitation went too: %v", name, err)
			}
		}
	})
}

// An invitation whose author lost the role is over, also where it was not revoked then.
func TestAccept_authorWithoutPermission(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newTestTeam(t, db)
		member := o.joins("mel", access.Member)
		outside := o.joins("out", access.Owner)
		if err := o.leave(outside); err != nil {
			t.Fatal(err)
		}
		for i, maker := range []access.Principal{member, outside} {
			now, code := models.Now(), fmt.Sprint("kept", i)
			row := models.Invitation{
				ID:        models.NewID("inv"),
				TeamID:    o.team,
				Role:      "owner",
				CodeHash:  accounts.HashForTest(code),
				CreatedBy: maker.Account,
				CreatedAt: now,
				ExpiresAt: now.Add(accounts.InvitationTTL),
			}
			if err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(&row) }); err != nil {
				t.Fatal(err)
			}
			_, err := o.s.PreviewInvitation(t.Context(), code)
			wants(t, "look", err, "invitation_over")
			_, err = o.s.Accept(t.Context(), outside, contract.AcceptanceOf(code))
			wants(t, "accept", err, "invitation_over")
			in := accounts.SignUp{
				Email:    code + "@example.com",
				Name:     "X",
				Password: password,
				From:     accounts.From{RemoteAddr: code},
			}
			_, err = o.s.SignUp(t.Context(), in, accounts.Ticket{Invitation: code})
			wants(t, "sign up", err, "invitation_over")
		}
	})
}
