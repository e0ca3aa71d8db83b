package accounts_test

import (
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/platform/federation"
	"postern/service/access"
	"postern/service/accounts"
	"postern/testkit/state"
)

const invited = "vic@example.com"

func identity(subject, email string, isVerified bool) federation.Identity {
	return federation.Identity{
		Issuer:        "https://id.example",
		Subject:       subject,
		Email:         email,
		Name:          "Vic",
		EmailVerified: isVerified,
	}
}

func (o *testTeam) signInAs(who federation.Identity, code string) (string, error) {
	return o.s.SignInFederated(o.t.Context(), who, accounts.Ticket{Invitation: code}, "browser", accounts.From{})
}

func TestAccept_boundAddress(t *testing.T) {
	for _, tc := range []struct {
		name string
		use  func(o *testTeam, code string) error
		want string // code; empty: in the team
	}{
		{"new account, address confirmed", func(o *testTeam, code string) error {
			_, err := o.signInAs(identity("vic", "Vic@Example.com", true), code)
			return err
		}, ""},
		{"new account, address not confirmed", func(o *testTeam, code string) error {
			_, err := o.signInAs(identity("vic", invited, false), code)
			return err
		}, "email_not_proven"},
		{"new account, another address confirmed", func(o *testTeam, code string) error {
			_, err := o.signInAs(identity("eve", "eve@example.com", true), code)
			return err
		}, "other_email"},
		{"new account, an address like it with another letter i confirmed", func(o *testTeam, code string) error {
			_, err := o.signInAs(identity("eve", "v\u0130c@example.com", true), code)
			return err
		}, "other_email"},
		{"password account with the address", func(o *testTeam, code string) error {
			_, err := o.s.Accept(o.t.Context(), o.passwordAccount(invited), contract.AcceptanceOf(code))
			return err
		}, "email_not_proven"},
		{"password account linked with a provider that confirms", func(o *testTeam, code string) error {
			vic := o.passwordAccount(invited)
			if err := o.s.Link(o.t.Context(), vic, identity("vic", invited, true)); err != nil {
				o.t.Fatal(err)
			}
			_, err := o.s.Accept(o.t.Context(), vic, contract.AcceptanceOf(code))
			return err
		}, ""},
		{"linked with a provider that does not confirm", func(o *testTeam, code string) error {
			vic := o.passwordAccount(invited)
			if err := o.s.Link(o.t.Context(), vic, identity("vic", invited, false)); err != nil {
				o.t.Fatal(err)
			}
			_, err := o.s.Accept(o.t.Context(), vic, contract.AcceptanceOf(code))
			return err
		}, "email_not_proven"},
		{"new account of the operator's issuer, address not stated as confirmed", func(o *testTeam, code string) error {
			o.s.OwnIssuer = "https://id.example"
			_, err := o.signInAs(identity("vic", "Vic@Example.com", false), code)
			return err
		}, ""},
		{"new account of the operator's issuer, another address", func(o *testTeam, code string) error {
			o.s.OwnIssuer = "https://id.example"
			_, err := o.signInAs(identity("eve", "eve@example.com", false), code)
			return err
		}, "other_email"},
		{"new account of another issuer than the operator's", func(o *testTeam, code string) error {
			o.s.OwnIssuer = "https://id.example/"
			_, err := o.signInAs(identity("vic", invited, false), code)
			return err
		}, "email_not_proven"},
		{"password account linked with the operator's issuer", func(o *testTeam, code string) error {
			o.s.OwnIssuer = "https://id.example"
			vic := o.passwordAccount(invited)
			if err := o.s.Link(o.t.Context(), vic, identity("vic", invited, false)); err != nil {
				o.t.Fatal(err)
			}
			_, err := o.s.Accept(o.t.Context(), vic, contract.AcceptanceOf(code))
			return err
		}, ""},
		{"linked with the operator's issuer, under another address", func(o *testTeam, code string) error {
			o.s.OwnIssuer = "https://id.example"
			vic := o.passwordAccount(invited)
			if err := o.s.Link(o.t.Context(), vic, identity("eve", "eve@example.com", false)); err != nil {
				o.t.Fatal(err)
			}
			_, err := o.s.Accept(o.t.Context(), vic, contract.AcceptanceOf(code))
			return err
		}, "email_not_proven"},
		{"confirmed at a later sign-in", func(o *testTeam, code string) error {
			vic := o.passwordAccount(invited)
			if err := o.s.Link(o.t.Context(), vic, identity("vic", invited, false)); err != nil {
				o.t.Fatal(err)
			}
			if _, err := o.signInAs(identity("vic", invited, true), ""); err != nil {
				o.t.Fatal(err)
			}
			_, err := o.s.Accept(o.t.Context(), vic, contract.AcceptanceOf(code))
			return err
		}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			state.Each(t, func(t *testing.T, db *models.DB) {
				o := newTestTeam(t, db)
				o.s.Policy = "open"
				code := o.invite(access.Member, invited)
				err := tc.use(o, code)
				if tc.want == "" && err != nil {
					t.Fatal(err)
				}
				if tc.want != "" {
					wants(t, tc.name, err, tc.want)
				}
				_, err = o.s.PreviewInvitation(t.Context(), code)
				if isUsed := err != nil; isUsed != (tc.want == "") {
					t.Errorf("the invitation is used: %v", isUsed)
				}
			})
		})
	}
}

func TestInvite_unprovableAddress(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newTestTeam(t, db)
		o.s.ProvesEmail = false
		invitation := contract.NewInvitation{Role: string(access.Member), Email: invited}
		_, err := o.s.Invite(t.Context(), o.ana, invitation.In(o.team))
		wants(t, "without a provider", err, "email_not_provable")
	})
}

func (o *testTeam) passwordAccount(email string) access.Principal {
	o.t.Helper()
	session, err := o.s.SignUp(o.t.Context(), accounts.SignUp{
		Email:    email,
		Name:     "P",
		Password: password,
	}, accounts.Ticket{})
	if err != nil {
		o.t.Fatal(err)
	}
	return o.who(session)
}
