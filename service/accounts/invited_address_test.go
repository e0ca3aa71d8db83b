package accounts_test

import (
	"testing"

	"postern/models"
	"postern/service/access"
	"postern/service/accounts"
	"postern/service/accounts/provider"
	"postern/testkit/state"
)

const invited = "vic@example.com"

func person(subject, email string, isVerified bool) provider.Person {
	return provider.Person{
		Issuer:        "https://id.example",
		Subject:       subject,
		Email:         email,
		Name:          "Vic",
		EmailVerified: isVerified,
	}
}

func (o *office) signInAs(who provider.Person, code string) (string, error) {
	return o.s.SignInAs(o.t.Context(), who, accounts.Ticket{Invitation: code}, "browser", accounts.From{})
}

func TestAccept_InvitationBoundToAnAddress(t *testing.T) {
	for _, tc := range []struct {
		name string
		use  func(o *office, code string) error
		want string // code; empty: in the team
	}{
		{"new account, address confirmed", func(o *office, code string) error {
			_, err := o.signInAs(person("vic", "Vic@Example.com", true), code)
			return err
		}, ""},
		{"new account, address not confirmed", func(o *office, code string) error {
			_, err := o.signInAs(person("vic", invited, false), code)
			return err
		}, "email_not_proven"},
		{"new account, another address confirmed", func(o *office, code string) error {
			_, err := o.signInAs(person("eve", "eve@example.com", true), code)
			return err
		}, "other_email"},
		{"password account with the address", func(o *office, code string) error {
			_, err := o.s.Accept(o.t.Context(), o.passwordAccount(invited), code)
			return err
		}, "email_not_proven"},
		{"password account linked with a provider that confirms", func(o *office, code string) error {
			vic := o.passwordAccount(invited)
			if err := o.s.Link(o.t.Context(), vic, person("vic", invited, true)); err != nil {
				o.t.Fatal(err)
			}
			_, err := o.s.Accept(o.t.Context(), vic, code)
			return err
		}, ""},
		{"linked with a provider that does not confirm", func(o *office, code string) error {
			vic := o.passwordAccount(invited)
			if err := o.s.Link(o.t.Context(), vic, person("vic", invited, false)); err != nil {
				o.t.Fatal(err)
			}
			_, err := o.s.Accept(o.t.Context(), vic, code)
			return err
		}, "email_not_proven"},
		{"confirmed at a later sign-in", func(o *office, code string) error {
			vic := o.passwordAccount(invited)
			if err := o.s.Link(o.t.Context(), vic, person("vic", invited, false)); err != nil {
				o.t.Fatal(err)
			}
			if _, err := o.signInAs(person("vic", invited, true), ""); err != nil {
				o.t.Fatal(err)
			}
			_, err := o.s.Accept(o.t.Context(), vic, code)
			return err
		}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			state.Each(t, func(t *testing.T, db *models.DB) {
				o := newOffice(t, db)
				o.s.Policy = "open"
				code := o.invite(access.Member, invited)
				err := tc.use(o, code)
				if tc.want == "" && err != nil {
					t.Fatal(err)
				}
				if tc.want != "" {
					wants(t, tc.name, err, tc.want)
				}
				_, err = o.s.LookInvitation(t.Context(), code)
				if isUsed := err != nil; isUsed != (tc.want == "") {
					t.Errorf("the invitation is used: %v", isUsed)
				}
			})
		})
	}
}

func TestInvite_AddressThatNothingProves(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newOffice(t, db)
		o.s.ProvesEmail = false
		_, err := o.s.Invite(t.Context(), o.ana, o.team, access.Member, invited)
		wants(t, "without a provider", err, "email_not_provable")
	})
}

func (o *office) passwordAccount(email string) access.Principal {
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
