package handlers_test

import (
	"testing"

	"postern/models"
	"postern/testkit/state"
)

func TestKeyTypesOnTheirPage(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := withShop(t, db)
		const list, path = "/projects/shop/key-types", "/projects/shop/key-types/partner"
		s.get("/projects/shop").says("#keys a[href='"+list+"']", "Key types")
		s.get(list).
			is(200, "Key types").
			says("tbody", "full").
			says("tbody", "read-only").
			says("tbody", "built in").
			lacks("tbody a[href^='" + list + "/']")

		s.post(
			list,
			"name", "Partner",
			"scopes", "orders:read Orders",
			"days", "4000",
			"limits_hour", "0",
			"limits_day", "9",
		).
			is(422, "Key types").
			holds("name", "Partner").
			holds("days", "4000").
			holds("limits_hour", "0").
			holds("limits_day", "9").
			says("#type-scopes", "orders:read Orders").
			says("#type-name-error", "lower-case").
			says("#type-scopes-error", "Orders: Use lower-case").
			says("#type-days-error", "up to 3650").
			says("#type-limit-hour-error", "1 or more").
			says("details[open]", "Create a key type")
		s.post(list, "name", "full", "scopes", "a").is(409, "Key types").says("#type-name-error", `"full" already`)
		for _, days := range []string{"many", "NaN", "-1", "0"} {
			s.post(list, "name", "other", "scopes", "a", "days", days).
				is(422, "Key types").
				says("#type-days-error", "up to 3650")
		}

		s.post(list, "name", "partner", "scopes", "orders:read\r\nstock:*  ", "days", "90", "limits_minute", "60").
			leadsTo(list)
		s.get(list).
			says("[data-flash]", "key type is saved").
			says("tbody", "orders:read stock:*").
			says("tbody", "90 days").
			says("tbody", "60 a minute")
		page := s.get(path).
			is(200, "Key type partner").
			says("dl", "Keys0").
			holds("days", "90").
			holds("limits_minute", "60").
			says("#type-scopes", "orders:read stock:*")
		opened := page.revisionAt("scopes")

		s.post(path, "revision", opened, "scopes", "orders:read", "limits_day", "1000").leadsTo(path)
		s.get(path).
			holds("days", "").
			holds("limits_minute", "").
			holds("limits_day", "1000").
			says("#type-scopes", "orders:read")
		s.post(path, "revision", s.get(path).revisionAt("scopes"), "scopes", " ", "days", "7").
			is(422, "Key type partner").
			holds("days", "7").
			says("#type-scopes-error", "at least one")

		conflict := s.post(path, "revision", opened, "scopes", "stock:read", "days", "30", "limits_minute", "5").
			is(412, "Changed since you opened it").
			says("tbody", "orders:read").
			says("tbody", "stock:read").
			says("tbody", "1,000 a day").
			says("tbody", "5 a minute")
		var mine []string
		for _, name := range []string{"revision", "scopes", "days", "limits_minute", "limits_day"} {
			mine = append(mine, name, conflict.value("form:has([name=scopes]) [name="+name+"]"))
		}
		s.post(path, mine...).leadsTo(path)
		s.get(path).
			holds("days", "30").
			holds("limits_minute", "5").
			holds("limits_day", "").
			says("#type-scopes", "stock:read")

		s.post(path+"/delete").is(422, "Key type partner").says("[role=alert]", "Tick the box")
		s.makes(s.get("/projects/shop").action("owner"), "owner", "billing", "key_type", "partner").
			is(200, "Key created")
		s.post(path+"/delete", "confirm", "true").
			is(409, "Key type partner").
			says("[role=alert]", "1 key is of this type, 1 of them active").
			says("dl", "Keys1")
		s.post(list, "name", "spare", "scopes", "a").leadsTo(list)
		s.post(list+"/spare/delete", "confirm", "true").leadsTo(list)
		s.get(list).says("[data-flash]", "deleted").lacks("tbody a[href='" + list + "/spare']")

		s.get(list+"/full").is(200, "Key type full").says("dl", "built in").lacks("form:has([name=scopes])")
		s.post(list+"/full", "scopes", "read").is(409, "Key type full").says("[role=alert]", "built in")
		s.get(list+"/spare").is(404, "There is nothing here")
	})
}

// The API sets a lifetime to the second: saving the form, which asks for days, must
// not move it.
func TestSavingAKeyTypeKeepsTheSecondsOfItsLifetime(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := withShop(t, db)
		const path = "/projects/shop/key-types/short"
		json := []string{"Content-Type", "application/json", "Accept", "application/json"}
		if got := s.ask("POST", "/api/v1/projects/shop/key-types", `{"name":"short","scopes":["a"],"expires_in":100001}`, json); got.status != 201 {
			t.Fatalf("POST: %d %s", got.status, got.raw)
		}
		page := s.get(path)
		s.post(path, "revision", page.revisionAt("scopes"), "scopes", "b", "days", page.value("[name=days]")).
			leadsTo(path)
		s.get("/projects/shop/key-types").says("tbody", "100,001 seconds")
	})
}
