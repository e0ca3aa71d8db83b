package pages_test

import (
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

func TestKeys_bulk(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	callsOn(s, 1)
	s.Get("/projects/shop/usage").Shows(200, "Usage") // writes what was counted
	s.Submit("/projects/shop/keys", "owner", "billing")
	page := s.Get("/projects/shop/keys")
	change := page.Action("key")
	ids := page.Find("[name=key]")
	first, second := ids.First().AttrOr("value", ""), ids.Last().AttrOr("value", "")

	s.Post(change, "do", "freeze").Shows(422, "Keys").Says("[role=alert]", "Select at least one key")
	s.Post(change, "do", "explode", "key", first).Shows(422, "This request failed")
	s.Post(change, "do", "freeze", "key", "key_none").Shows(404, "Page not found")
	s.Post(change, "do", "freeze", "key", first).Shows(200, "Freeze 1 key").
		Says("main", "No calls used it in the last hour")
	s.Post(change, "do", "revoke", "key", first, "key", second).Shows(200, "Revoke 2 keys").
		Says("main", "1 owner made calls with them in the last hour: bootstrap.")
	s.Get("/projects/shop/keys").Says("tbody", "Active").Lacks("tbody .tone-cold")

	s.Post(change, "do", "freeze", "key", first, "key", second, "confirm", "true").LeadsTo("/projects/shop/keys")
	s.Get("/projects/shop/keys").Says("[data-flash]", "for bootstrap and 1 other key. Calls with these keys get 403")
	if n := s.Get("/projects/shop/keys").Find("tbody td .tone-cold").Length(); n != 2 {
		t.Errorf("%d keys are frozen, want 2", n)
	}
	s.Post(change, "do", "unfreeze", "key", first, "confirm", "true").LeadsTo("/projects/shop/keys")
	s.Post(change, "do", "revoke", "key", first, "confirm", "true").LeadsTo("/projects/shop/keys")
	s.Get("/projects/shop/keys").Says("tbody", "Revoked").Says("tbody", "Frozen")
	s.Post(change, "do", "freeze", "key", first, "confirm", "true").Shows(409, "Freeze 1 key").
		Says("[role=alert]", "billing")
}
