package accounts_test

import (
	"context"
	"testing"

	"postern/models"
	"postern/platform/fault"
	"postern/service/accounts"
	"postern/testkit/state"
)

// A database error is internal: it must not be reported as a used link or closed sign-up.
func TestSignIn_databaseError(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := newService(t, db)
		failing, stop := context.WithCancel(t.Context())
		stop()
		in := accounts.SignUp{Email: "ben@example.com", Name: "Ben", Password: "correct horse battery"}
		_, linkErr := s.UseLink(failing, "a link", in)
		_, signUpErr := s.SignUp(failing, in, accounts.Ticket{})
		for name, err := range map[string]error{
			"use a link":  linkErr,
			"sign up":     signUpErr,
			"may sign up": s.MaySignUp(failing, accounts.Ticket{}),
		} {
			if code := fault.CodeOf(err); err == nil || code != "" {
				t.Errorf("%s: %v, which says %q", name, err, code)
			}
		}
	})
}
