package pages_test

import (
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

func TestBin(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	const page = "/projects/shop/delete"
	s.Get("/projects").Lacks("a[href='/bin']")
	s.Get("/bin").Shows(200, "Trash").Says("main", "The trash is empty")
	s.Get("/projects/shop/settings").Says("a[href='"+page+"']", "Delete project")
	s.Get(page).
		Says("dl", "API keys").
		Says("main", "Last export: never").
		Says("form[action='"+page+"']", "You can restore it from the trash for 30 days")
	s.Post(page).Shows(422, "Delete shop").Says("[role=alert]", "Check the box")
	s.Post(page, "confirm", "true").LeadsTo("/bin")
	s.Post(page, "confirm", "true").LeadsTo("/bin") // in two tabs
	s.Get("/bin").Says("main li", "shop").Says("form[action='/projects/shop/restore']", "Restore")
	s.Get("/projects").Says("a[href='/bin']", "Trash").Lacks(".card a[href='/projects/shop']")
	s.Get("/projects/shop").
		Says("[role=alert]", "All calls get 410").
		Lacks("form[action='/projects/shop/settings']").
		Lacks("form[action='/projects/shop/keys']")
	s.Get("/projects/shop/export").Says("form[action='/projects/shop/export']", "Start export")

	s.Post("/projects/shop/restore").LeadsTo("/projects/shop")
	s.Get("/projects/shop").Lacks("[role=alert]").Says("[data-flash]", "serves calls again")
	s.Post(page, "now", "true", "typed_name", "shopp").
		Shows(422, "Delete shop").
		Holds("typed_name", "shopp").
		Says("#erase-confirm-error", "Type shop to confirm.")
	s.Post(page, "now", "true", "typed_name", "shop").LeadsTo("/projects")
	s.Get("/projects/shop").Shows(404, "Page not found")
	s.Get("/bin").Says("main", "The trash is empty")
}
