package pages_test

import (
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

const (
	keyTypesPage = "/projects/shop/key-types"
	partnerPage  = keyTypesPage + "/partner"
)

func TestKeyTypes_separators(t *testing.T) {
	t.Parallel()
	s, _ := controlplane.NewOwnerWithShop(t, state.OpenSQLite(t))
	s.Post(keyTypesPage, "name", "partner", "scopes", "a", "expires_in", "1,000", "limits_day", "10,000").
		LeadsTo(keyTypesPage)
	s.Get(partnerPage).Holds("expires_in", "1000").Holds("limits_day", "10000")
}

// createPartner creates the type partner: two scopes, 90 days, 60 calls a minute.
func createPartner(s *controlplane.Browser) {
	s.T.Helper()
	s.Post(keyTypesPage, "name", "partner", "scopes", "orders:read\r\nstock:*  ", "expires_in", "90",
		"limits_minute", "60").
		LeadsTo(keyTypesPage)
}

func TestKeyTypes_builtIn(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	s.Get("/projects/shop/keys").Says("main a[href='"+keyTypesPage+"']", "Key types")
	s.Get(keyTypesPage).
		Shows(200, "Key types").
		Says("nav[aria-label=Breadcrumb] a[href='/projects/shop/keys']", "Keys").
		Says("main a[href='/projects/shop/keys']", "Back to keys").
		Says("tbody", "full").
		Says("tbody", "read-only").
		Says("tbody", "built in").
		Lacks("tbody a[href^='" + keyTypesPage + "/']")
	s.Get(keyTypesPage+"/full").Shows(200, "Key type full").Says("dl", "Built in").Lacks("form:has([name=scopes])")
	s.Post(keyTypesPage+"/full", "scopes", "read").Shows(409, "Key type full").Says("[role=alert]", "built in")
}

func TestKeyTypes_invalid(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	s.Post(
		keyTypesPage,
		"name", "42",
		"scopes", "orders:read Orders",
		"expires_in", "4000",
		"limits_hour", "0",
		"limits_day", "9",
	).
		Shows(422, "Key types").
		Holds("name", "42").
		Holds("expires_in", "4000").
		Holds("limits_hour", "0").
		Holds("limits_day", "9").
		Says("#type-scopes", "orders:read Orders").
		Says("#type-name-error", "lowercase").
		Says("#type-scopes-error", "Orders: Use lowercase").
		Says("#type-expires-in-error", "up to 3,650").
		Says("#type-limit-hour-error", "Use a whole number of 1 or more, or leave the field empty.").
		Says("details[open]", "Create a key type")
	s.Post(keyTypesPage, "name", "full", "scopes", "a").
		Shows(409, "Key types").
		Says("#type-name-error", `already has a key type "full"`)
	for _, days := range []string{"many", "NaN", "-1", "0"} {
		s.Post(keyTypesPage, "name", "other", "scopes", "a", "expires_in", days).
			Shows(422, "Key types").
			Says("#type-expires-in-error", "up to 3,650")
	}
}

func TestKeyTypes_create(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	createPartner(s)
	s.Get(keyTypesPage).
		Says("[data-flash]", "Saved the key type partner").
		Says("tbody", "orders:read stock:*").
		Says("tbody", "90 days").
		Says("tbody", "60 per minute")
	s.Get(partnerPage).
		Shows(200, "Key type partner").
		Says("dl", "Keys0").
		Holds("expires_in", "90").
		Holds("limits_minute", "60").
		Says("#changed-type-scopes", "orders:read stock:*")
}

func TestKeyTypes_update(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	createPartner(s)
	opened := s.Get(partnerPage).Revision("scopes")
	s.Post(partnerPage, "revision", opened, "scopes", "orders:read", "limits_day", "1000").LeadsTo(partnerPage)
	s.Get(partnerPage).
		Holds("expires_in", "").
		Holds("limits_minute", "").
		Holds("limits_day", "1000").
		Says("#changed-type-scopes", "orders:read")
	s.Post(partnerPage, "revision", s.Get(partnerPage).Revision("scopes"), "scopes", " ", "expires_in", "7").
		Shows(422, "Key type partner").
		Holds("expires_in", "7").
		Says("#changed-type-scopes-error", "at least one")

	conflict := s.Post(partnerPage, "revision", opened, "scopes", "stock:read", "expires_in", "30",
		"limits_minute", "5").
		Shows(412, "Changed since you opened this page").
		Says("tbody", "orders:read").
		Says("tbody", "stock:read").
		Says("tbody", "1,000 per day").
		Says("tbody", "5 per minute")
	var mine []string
	for _, name := range []string{"revision", "scopes", "expires_in", "limits_minute", "limits_day"} {
		mine = append(mine, name, conflict.Value("form:has([name=scopes]) [name="+name+"]"))
	}
	s.Post(partnerPage, mine...).LeadsTo(partnerPage)
	s.Get(partnerPage).
		Holds("expires_in", "30").
		Holds("limits_minute", "5").
		Holds("limits_day", "").
		Says("#changed-type-scopes", "stock:read")
}

func TestKeyTypes_delete(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	createPartner(s)
	s.Post(partnerPage+"/delete").Shows(422, "Key type partner").Says("[role=alert]", "Check the box")
	s.Submit(s.Get("/projects/shop/keys").Action("owner"), "owner", "billing", "key_type", "partner").
		Shows(200, "Key created")
	s.Post(partnerPage+"/delete", "confirm", "true").
		Shows(409, "Key type partner").
		Says("[role=alert]", "because 1 key uses it (1 active)").
		Says("dl", "Keys1")
	s.Post(keyTypesPage, "name", "spare", "scopes", "a").LeadsTo(keyTypesPage)
	s.Post(keyTypesPage+"/spare/delete", "confirm", "true").LeadsTo(keyTypesPage)
	s.Get(keyTypesPage).Says("[data-flash]", "Deleted").Lacks("tbody a[href='" + keyTypesPage + "/spare']")
	s.Get(keyTypesPage+"/spare").Shows(404, "Page not found")
}

// The API sets a lifetime to the second: saving the form, which asks for days, must
// not move it.
func TestKeyTypes_keptLifetime(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	const path = keyTypesPage + "/short"
	callAPI(s, "POST", "/api/v1/projects/shop/key-types", `{"name":"short","scopes":["a"],"expires_in":100001}`)
	page := s.Get(path)
	s.Post(path, "revision", page.Revision("scopes"), "scopes", "b", "expires_in", page.Value("[name=expires_in]")).
		LeadsTo(path)
	s.Get(keyTypesPage).Says("tbody", "100,001 seconds")
}

func TestKeyTypes_refused(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	createPartner(s)
	const rulesPage = "/projects/shop/versions/1.0.0/rules"
	revision := s.Get(rulesPage).Find("[name=revision]").AttrOr("value", "")
	s.Post(
		rulesPage, "revision", revision, "default", "allow", "rules_mode", "enforce",
		"read_write_scopes", "true", "rules", "GET /orders/{id} scopes=orders:read",
	).
		LeadsTo(rulesPage)
	for _, page := range []string{rulesPage, keyTypesPage} {
		s.Get(page).
			Says("[data-warning]", "refuses keys of the type partner with insufficient_scope").
			Says("[data-warning]", "all rules that name scopes refuse keys of the type read-only")
	}
}
