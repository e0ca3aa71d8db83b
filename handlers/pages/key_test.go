package pages_test

import (
	"strings"
	"testing"

	"postern/core/policy"
	"postern/testkit/controlplane"
	"postern/testkit/state"
	"postern/views/ui"
)

func TestKeys_lifecycle(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	action := s.Get("/projects/shop/keys").Says("#keys", "1 key").Action("owner")
	wrong := s.Post(action,
		"owner", "ä", "key_type", "read-only", "environment", "moon",
		"expires_at", "2020-01-01", "description", "for tests",
	).Shows(422, "Keys").
		Holds("owner", "ä").
		Holds("expires_at", "2020-01-01").
		Holds("description", "for tests").
		Says("#key-owner-error", "printable ASCII").
		Says("#key-expires-error", "100 years").
		Says("#key-environment-error", "moon")
	if wrong.Find("details[open]").Length() != 1 || wrong.Value("#key-type option[selected]") != "read-only" {
		t.Error("the refused form is closed or forgot the type")
	}
	s.Post(action, "owner", "billing", "key_type", "full", "expires_at", "tomorrow").
		Shows(422, "Keys").
		Says("#key-expires-error", "2030-12-31")

	minted := s.Submit(action,
		"owner", "billing", "key_type", "read-only", "environment", "prod",
		"expires_at", "2090-12-31",
	).Shows(200, "Key created")
	key := controlplane.Clean(minted.Find("#new-key").Text())
	if !policy.WellFormedKey(key) || !strings.HasPrefix(key, "pst_prod_") {
		t.Errorf("the new key %q is not one of prod", key)
	}
	minted.Says("dl time[title='31 Dec 2090, 23:59 UTC']", "in ").Says("#try-curl", key)

	list := s.Get("/projects/shop/keys").
		Says("#keys", "2 keys").
		Says("tbody tr:first-child", "billing").
		Says("tbody tr:first-child", "read-only")
	path := list.Find("tbody tr:first-child a").AttrOr("href", "")
	s.Get(path).Shows(200, "Key for billing").Says("[data-panel]", "Active").
		Says("[data-panel] time[title^='31 Dec 2090']", "in ")

	s.Get(path).Says("form[action$='/revoke']", "No calls used it in the last hour")

	rotate := path + "/rotate"
	old := s.Get(path).Nonce(rotate)
	s.Post(path + "/freeze").LeadsTo(path)
	s.Get(path).
		Says("[data-flash]", "frozen").
		Says("[data-panel]", "Frozen").
		Lacks("form[action$='/freeze'], form[action$='/rotate']")
	s.Post(rotate, "grace_seconds", "0", "confirm", "true", ui.NonceField, old).
		Shows(409, "Key for billing").
		Says("[role=alert]", "Only active keys can be rotated")
	s.Post(path + "/unfreeze").LeadsTo(path)
	s.Get(path).Says("[data-flash]", "works again").Says("[data-panel]", "Active")

	fresh := s.Get(path).Nonce(rotate)
	s.Post(rotate, "grace_seconds", "3600", ui.NonceField, fresh).
		Shows(422, "Key for billing").
		Says("details[open] form[action$='/rotate'] [role=alert]", "Confirm that you want a new secret").
		Says("details[open] [data-undo]", "can't restore")
	s.Post(rotate, "grace_seconds", "9999999999", "confirm", "true", ui.NonceField, fresh).
		Shows(422, "Key for billing").
		Says("details[open] #rotate-grace-error", "2,592,000")
	rotated := s.Submit(rotate, "grace_seconds", "3600", "confirm", "true", ui.NonceField, fresh).
		Shows(200, "Key rotated").
		Says("main", "The old secret expires on")
	if controlplane.Clean(rotated.Find("#new-key").Text()) == key {
		t.Error("rotation kept the secret")
	}
	s.Get(path).Says("[data-panel]", "Old secret expires")

	s.Post(path+"/revoke").Shows(422, "Key for billing").Says("[role=alert]", "Check the box")
	s.Post(path+"/revoke", "confirm", "true").LeadsTo(path)
	s.Get(path).Says("[data-flash]", "revoked").Says("[data-panel]", "Revoked").Lacks("[data-panel] form")
	s.Post(path+"/unfreeze").Shows(409, "Key for billing").Says("[role=alert]", "revoked")
	s.Get("/projects").Says("li", "1 active key ")
}

func TestKeys_pages(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	action := s.Get("/projects/shop/keys").Action("owner")
	for range 50 {
		s.Submit(action, "owner", "billing", "key_type", "full").Shows(200, "Key created")
	}
	first := s.Get("/projects/shop/keys").Says("#keys", "51 keys")
	older, _, _ := strings.Cut(first.Find("a:contains('More keys')").AttrOr("href", ""), "#")
	if rows := first.Find("tbody tr").Length(); rows != 50 || older == "" {
		t.Fatalf("%d rows and the next page at %q, want 50 and an address", rows, older)
	}
	second := s.Get(older).Says("tbody", "bootstrap").Lacks("a:contains('More keys')")
	if rows := second.Find("tbody tr").Length(); rows != 1 {
		t.Errorf("%d rows on the second page, want 1", rows)
	}
}

// A key's page answers below its own project only.
func TestKeys_otherProject(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	path := s.Get("/projects/shop/keys").Find("tbody a").AttrOr("href", "")
	s.Submit("/projects/new", "target", "http://127.0.0.1:9", "name", "other").Shows(200, "other is ready")
	elsewhere := strings.Replace(path, "/shop/", "/other/", 1)
	s.Get(elsewhere).Shows(404, "Page not found")
	s.Post(elsewhere+"/revoke", "confirm", "true").Shows(404, "Page not found")
	s.Get(path).Says("[data-panel]", "Active")
}
