package pages_test

import (
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

func TestCallSigning(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	const page = "/projects/shop/call-signing"
	s.Get("/projects/shop/settings").Says("a[href='"+page+"']", "Set up signing")
	s.Get(page).Shows(200, "Signed calls").Says("main", "Calls aren't signed.").Lacks("table").
		Says("nav[aria-label=Project] [aria-current]", "Settings").
		Says("nav[aria-label=Breadcrumb] a[href='/projects/shop/settings']", "Settings").
		Says("main a[href='/projects/shop/settings']", "Back to settings")
	s.Post(page+"/rotate", "confirm", "true").Shows(409, "Signed calls").Says("main", "Enable call signing first")
	s.Post(page).LeadsTo(page)
	s.Get(page).Says("tbody", "signs").Says("main", "/shop/.well-known/http-message-signatures-directory")
	s.Post(page+"/rotate", "when", "later", "confirm", "true").LeadsTo(page)
	s.Get(page).Says("tbody tr:nth-child(2)", "published")
	s.Post(page+"/rotate", "when", "later", "confirm", "true").Shows(409, "Signed calls").
		Says("main", "Rotate again after that")
	s.Post(page+"/rotate", "when", "now", "confirm", "true").LeadsTo(page)
	s.Get(page).Says("tbody tr:nth-child(1)", "signs").Lacks("tbody tr:nth-child(2)")
	s.Post(page+"/rotate", "when", "now").Shows(422, "Signed calls").
		Says("details[open] form[action$='/rotate'] [role=alert]", "Confirm that you want to rotate the key.").
		Lacks("details[open] form[action$='/disable']")
	s.Post(page+"/disable").Shows(422, "Signed calls").Says("main", "Check the box to stop signing.")
	s.Post(page+"/disable", "confirm", "true").LeadsTo(page)
	s.Get(page).Says("main", "Calls aren't signed.")
}
