package pages_test

import (
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// Without a mail server, a new name and address count at once.
func TestProfile(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewOwner(t, db)
	page := s.Get("/account").Shows(200, "Your account")
	email := page.Find("#profile-email").AttrOr("value", "")
	refused := s.Post("/account", "name", "Ana Lopez", "email", "ana@lopez.example", "password", "wrong").
		Shows(422, "Your account").Says("main", "This isn't your current password.")
	if got := refused.Find("#profile-email").AttrOr("value", ""); got != "ana@lopez.example" {
		t.Errorf("the refused form holds %q", got)
	}
	s.Post("/account", "name", "Ana Lopez", "email", email).LeadsTo("/account")
	s.Get("/account").Shows(200, "Your account").Says("main", "Ana Lopez")
	s.Post("/account", "name", "Ana Lopez", "email", "ana@lopez.example", "password", controlplane.Password).
		LeadsTo("/account")
	s.Get("/account").Shows(200, "Your account").Says("main", "ana@lopez.example")
	s.Get("/email/nothing").Shows(410, "This link doesn't work")
}
