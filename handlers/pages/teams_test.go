package pages_test

import (
	"net/http"
	"strings"
	"testing"

	"postern/models"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// The only owner of a team cannot delete the account; without teams and with another
// operator, the email address and the password do.
func TestAccount_delete(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewOwner(t, db)
	s.Get("/account/delete").Shows(200, "Your account").Says("main", "only owner of Ana").
		Says("main a[href='/teams']", "Open your teams").Lacks("#delete-email")
	s.Post("/account/delete", "confirm", "ana@example.com", "password", controlplane.Password).
		Shows(409, "Your account").Says("[role=alert]", "only owner of Ana")
	team := s.Get("/teams").Lacks("nav[aria-label=Team] [aria-current]").Find("main ul.card a").AttrOr("href", "")
	s.Get(team).Says("nav[aria-label=Team] [aria-current]", "Members")
	s.Post(team+"/delete", "typed_name", "Ana").LeadsTo("/teams")
	s.Get("/account/delete").Says("main", "only operator").Lacks("#delete-email")
	err := db.Write(t.Context(), func(tx *models.Tx) error {
		other := models.Account{
			ID:        "acc_other",
			Email:     "other@example.com",
			Name:      "Other",
			Operator:  true,
			CreatedAt: models.Now(),
		}
		return tx.Insert(&other)
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Get("/account/delete").Says("main", "Projects stay with their teams")
	s.Post("/account/delete", "confirm", "x", "password", controlplane.Password).Shows(422, "Your account").
		Holds("confirm", "x").Says("#delete-email-error", "Type your email address")
	s.Post("/account/delete", "confirm", "ana@example.com", "password", "another four words").
		Shows(422, "Your account").Says("#delete-password-error", "isn't your current password")
	s.Post("/account/delete", "confirm", "ana@example.com", "password", controlplane.Password).LeadsTo("/signin")
	s.Get("/account").Shows(303, "")
}

// The pages of a team and of its webhook choose that team.
func TestTeam_chosen(t *testing.T) {
	t.Parallel()
	s := controlplane.NewOwner(t, state.OpenSQLite(t))
	first := s.Get("/teams").Find("main ul.card a").AttrOr("href", "")
	hook := s.Submit("/settings/webhooks", "url", "http://8.8.8.8/hook", "events", "key.frozen").Find("main a.btn").
		AttrOr("href", "")
	s.Submit("/teams", "name", "Payments")
	second := s.Get("/projects").Find("nav[aria-label=Team] a[href^='/teams/']").First().AttrOr("href", "")
	if second == first {
		t.Fatalf("after a team was created, the sidebar leads to %s", second)
	}
	chosen := func(page, team string) {
		t.Helper()
		s.Get(page).Says("nav[aria-label=Team] a[href='"+team+"']", "Members")
	}
	chosen(hook, first)
	chosen(second, second)
	chosen(first, first)
}

// A project moves to another team of its owner, after which the first team can be deleted.
func TestTeam_delete(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	s.Get("/projects/shop/settings").Lacks("#move")
	first := s.Get("/teams").Find("main ul.card a").AttrOr("href", "")
	s.Get(first+"/settings").Says("section[aria-labelledby=delete]", "can't delete a team").
		Says("section[aria-labelledby=delete]", "shop").Lacks("#erase-confirm")
	s.Post(first+"/delete", "typed_name", "x").Shows(409, "Settings").Says("[role=alert]",
		"The team still has projects: shop")

	s.Submit("/teams", "name", "Payments")
	second := ""
	for _, card := range s.Get("/teams").Find("main ul.card a").EachIter() {
		if card.Text() == "Payments" {
			second = card.AttrOr("href", "")
		}
	}
	id := second[len("/teams/"):]
	s.Post("/projects/shop/move", "team", id).Shows(422, "Settings").Says("#move [role=alert]", "Check the box")
	s.Post("/projects/shop/move", "team", "team_none", "confirm", "true").Shows(422, "Settings").
		Says("#move [role=alert]", "team where you are an owner")
	s.Get("/projects/shop/settings").Says("#move option", "Payments")
	s.Post("/projects/shop/move", "team", id, "confirm", "true").LeadsTo("/projects/shop/settings")
	s.Get("/projects/shop/settings").Says("[data-flash]", "belongs to the other team").Lacks(
		"#move option[value='" + id + "']")
	s.Post("/projects/shop/move", "team", id, "confirm", "true").LeadsTo("/projects/shop/settings")

	s.Get(first+"/settings").Says("section[aria-labelledby=erase-confirm-title]", "Members").Lacks("[role=alert]")
	s.Post(first+"/delete", "typed_name", "an").Shows(422, "Settings").Says("#erase-confirm-error",
		"Type Ana to confirm.")
	s.Post(first+"/delete", "typed_name", "Ana").LeadsTo("/teams")
	s.Get("/teams").
		Says("[data-flash]", "Deleted the team Ana").
		Says("main", "Payments").
		Lacks("a[href='" + first + "']")
	s.Post(first+"/delete", "typed_name", "Ana").Shows(404, "Page not found")
	s.Get("/projects/shop").Shows(200, "shop")
}

// An owner may delete the only team, as an account may have none; the dashboard then offers
// to create one.
func TestTeam_deleteOnlyOne(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := controlplane.NewOwner(t, db)
		only := s.Get("/teams").Find("main ul.card a").AttrOr("href", "")
		s.Post(only+"/delete", "typed_name", "Ana").LeadsTo("/teams")
		for _, path := range []string{
			"/teams", "/projects", "/projects/new", "/bin", "/products", "/tenants", "/account",
		} {
			if got := s.Get(path); got.Status != http.StatusOK {
				t.Errorf("%s is answered %d", path, got.Status)
			}
		}
		s.Submit("/teams", "name", "Payments")
		s.Get("/teams").Says("main", "Payments")
	})
}

// TestTeamPage_roles explains the roles where one is chosen, and to the person who is invited.
func TestTeamPage_roles(t *testing.T) {
	t.Parallel()
	s := controlplane.NewOwner(t, state.OpenSQLite(t))
	team := s.Get("/teams").Find("main ul.card a").AttrOr("href", "")
	s.Get(team).
		Says("label[for=invite-role-viewer]", "except the audit log").
		Says("label[for=invite-role-member]", "can't manage members").
		Says("label[for=invite-role-owner]", "Owners can do everything").
		Lacks("ul[aria-label=Roles]") // there is no one whose role could change
	invited := s.Submit(team+"/invitations", "role", "viewer").Find("#invitation-link").Text()
	_, code, _ := strings.Cut(invited, "/invite/")
	s.Get("/invite/"+strings.TrimSpace(code)).Says("main", "except the audit log and invitations")
}
