package pages_test

import (
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

func TestRecovery(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewOwner(t, db)
	code, err := s.Server.Accounts.RecoveryCode(t.Context(), "ana@example.com")
	if err != nil {
		t.Fatal(err)
	}
	s.ClearCookies()
	s.Get("/signin").Says("main", "Forgot your password?")
	s.Get("/recover").Shows(200, "Reset your password").Says("main", "postern recover")
	s.Get("/recover/nothing").Shows(410, "This link doesn't work").Says("main", "postern recover")
	link := "/recover/" + code
	s.Get(link).Shows(200, "Choose a new password").Says("main", "ana@example.com")
	s.Post(link, "password", "short").Shows(422, "Choose a new password").Says("#password-error", "12")
	s.Post(link, "password", "a brand new password").LeadsTo("/projects")
	s.Get("/projects").Shows(200, "Projects")
	s.Post(link, "password", "another new password").Shows(410, "This link doesn't work")
	s.ClearCookies()
	s.Post("/signin", "email", "ana@example.com", "password", "a brand new password").LeadsTo("/projects")
}
