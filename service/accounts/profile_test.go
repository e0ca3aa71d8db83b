package accounts_test

import (
	"strings"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/accounts"
	"postern/testkit/state"
)

func TestUpdateProfile(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := &accounts.Service{DB: db, PasswordCost: cheap, Policy: "open"}
		ana := signedUp(t, s)
		_, err := s.SignUp(t.Context(), accounts.SignUp{
			Email: "ben@example.com", Name: "Ben", Password: password,
		}, accounts.Ticket{})
		if err != nil {
			t.Fatal(err)
		}
		recovery, err := s.RecoveryCode(t.Context(), "ana@example.com")
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct{ name, newName, email, password, code string }{
			{"no name", " ", "", "", "invalid_name"},
			{"no address", "", "ana", password, "invalid_email"},
			{"no password", "", "ana@lopez.example", "", "wrong_password"},
			{"a wrong password", "", "ana@lopez.example", "wrong", "wrong_password"},
			{"another account's address", "", "Ben@example.com ", password, "email_taken"},
			{"the same address without a password", "", "ANA@example.com", "", ""},
			{"a name", "Ana Lopez", "", "", ""},
			{"an address", "", " Ana@Lopez.example", password, ""},
		} {
			change := contract.AccountChange{Password: contract.Secret(c.password)}
			if c.newName != "" {
				change.Name = &c.newName
			}
			if c.email != "" {
				change.Email = &c.email
			}
			_, err := s.UpdateProfile(t.Context(), ana, contract.AccountUpdate{Body: change})
			wants(t, c.name, err, c.code)
		}
		got, err := s.ProfileOf(t.Context(), ana.Account)
		if err != nil || got.Account != (contract.Account{
			ID: ana.Account, Name: "Ana Lopez", Email: "ana@lopez.example",
		}) || got.UnconfirmedEmail != "" {
			t.Errorf("%+v, %v", got, err)
		}
		if _, err := s.SignIn(t.Context(), "ana@lopez.example", password, accounts.From{}); err != nil {
			t.Errorf("signing in with the new address: %v", err)
		}
		if email, err := s.RecoveryEmail(t.Context(), recovery); err != nil || email != "" {
			t.Errorf("a link that was made for the old address works: %q, %v", email, err)
		}
	})
}

// If mail is sent, a new address counts once its owner has confirmed it.
func TestConfirmEmail(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		box := &outbox{}
		s := &accounts.Service{DB: db, PasswordCost: cheap, Policy: "open"}
		s.Mail = &accounts.Mail{Sender: box, Jobs: box, PublicURL: "https://postern.example.com"}
		ana := signedUp(t, s)
		ask := func(email string) string {
			t.Helper()
			change := contract.AccountChange{Email: &email, Password: password}
			got, err := s.UpdateProfile(t.Context(), ana, contract.AccountUpdate{Body: change})
			if err != nil || got.Email != "ana@example.com" || got.UnconfirmedEmail != email {
				t.Fatalf("asked for %s: %+v, %v", email, got, err)
			}
			return mailedCode(t, s, box, email)
		}
		replaced, code := ask("typo@lopez.example"), ask("ana@lopez.example")
		for name, dead := range map[string]string{"a replaced link": replaced, "no link": "x"} {
			wants(t, name, s.ConfirmEmail(t.Context(), dead, accounts.From{}), "link_used")
		}
		if email, err := s.UnconfirmedEmail(t.Context(), code); err != nil || email != "ana@lopez.example" {
			t.Errorf("the link is for %q, %v", email, err)
		}
		if err := s.ConfirmEmail(t.Context(), code, accounts.From{}); err != nil {
			t.Fatal(err)
		}
		wants(t, "the link again", s.ConfirmEmail(t.Context(), code, accounts.From{}), "link_used")
		if got, err := s.ProfileOf(t.Context(), ana.Account); err != nil || got.Email != "ana@lopez.example" ||
			got.UnconfirmedEmail != "" {
			t.Errorf("%+v, %v", got, err)
		}
		if got := box.queued[len(box.queued)-1]; got != "ana@example.com became ana@lopez.example" {
			t.Errorf("the old address is told %q", got)
		}
	})
}

// An address that was free when the link was mailed may be another account's when it is opened.
func TestConfirmEmail_taken(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		box := &outbox{}
		s := &accounts.Service{DB: db, PasswordCost: cheap, Policy: "open"}
		s.Mail = &accounts.Mail{Sender: box, Jobs: box, PublicURL: "https://postern.example.com"}
		ana := signedUp(t, s)
		email := "ben@example.com"
		change := contract.AccountChange{Email: &email, Password: password}
		if _, err := s.UpdateProfile(t.Context(), ana, contract.AccountUpdate{Body: change}); err != nil {
			t.Fatal(err)
		}
		code := mailedCode(t, s, box, email)
		_, err := s.SignUp(t.Context(), accounts.SignUp{
			Email: email, Name: "Ben", Password: password,
		}, accounts.Ticket{})
		if err != nil {
			t.Fatal(err)
		}
		wants(t, "a taken address", s.ConfirmEmail(t.Context(), code, accounts.From{}), "email_taken")
	})
}

func TestUpdateProfile_workspaceKey(t *testing.T) {
	s := &accounts.Service{}
	name := "x"
	_, err := s.UpdateProfile(t.Context(), access.Principal{Token: "tok_1"}, contract.AccountUpdate{
		Body: contract.AccountChange{Name: &name},
	})
	if kind := fault.KindOf(err); kind != fault.Forbidden && kind != fault.Unauthenticated {
		t.Errorf("a workspace key: %v", err)
	}
}

// mailedCode sends the last queued link and returns the code that was mailed to email.
func mailedCode(t *testing.T, s *accounts.Service, box *outbox, email string) string {
	t.Helper()
	if err := s.SendConfirmation(t.Context(), box.queued[len(box.queued)-1]); err != nil {
		t.Fatal(err)
	}
	last := box.texts[len(box.texts)-1]
	_, rest, found := strings.Cut(last, "https://postern.example.com/email/")
	if !found || !strings.HasPrefix(last, email+"\n") {
		t.Fatalf("mailed %q", last)
	}
	code, _, _ := strings.Cut(rest, "\n")
	return code
}

// signedUp returns the first account's principal.
func signedUp(t *testing.T, s *accounts.Service) access.Principal {
	t.Helper()
	p, err := s.BySession(t.Context(), firstAccount(t, s))
	if err != nil {
		t.Fatal(err)
	}
	return p
}
