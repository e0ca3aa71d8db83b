package pages_test

import (
	"testing"

	"postern/models"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

func TestKeyTypesOnTheirPage(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := controlplane.NewOwnerWithShop(t, db)
		const list, path = "/projects/shop/key-types", "/projects/shop/key-types/partner"
		s.Get("/projects/shop").Says("#keys a[href='"+list+"']", "Key types")
		s.Get(list).
			Shows(200, "Key types").
			Says("tbody", "full").
			Says("tbody", "read-only").
			Says("tbody", "built in").
			Lacks("tbody a[href^='" + list + "/']")

		s.Post(
			list,
			"name", "Partner",
			"scopes", "orders:read Orders",
			"days", "4000",
			"limits_hour", "0",
			"limits_day", "9",
		).
			Shows(422, "Key types").
			Holds("name", "Partner").
			Holds("days", "4000").
			Holds("limits_hour", "0").
			Holds("limits_day", "9").
			Says("#type-scopes", "orders:read Orders").
			Says("#type-name-error", "lower-case").
			Says("#type-scopes-error", "Orders: Use lower-case").
			Says("#type-days-error", "up to 3650").
			Says("#type-limit-hour-error", "1 or more").
			Says("details[open]", "Create a key type")
		s.Post(list, "name", "full", "scopes", "a").Shows(409, "Key types").Says("#type-name-error", `"full" already`)
		for _, days := range []string{"many", "NaN", "-1", "0"} {
			s.Post(list, "name", "other", "scopes", "a", "days", days).
				Shows(422, "Key types").
				Says("#type-days-error", "up to 3650")
		}

		s.Post(list, "name", "partner", "scopes", "orders:read\r\nstock:*  ", "days", "90", "limits_minute", "60").
			LeadsTo(list)
		s.Get(list).
			Says("[data-flash]", "key type is saved").
			Says("tbody", "orders:read stock:*").
			Says("tbody", "90 days").
			Says("tbody", "60 a minute")
		page := s.Get(path).
			Shows(200, "Key type partner").
			Says("dl", "Keys0").
			Holds("days", "90").
			Holds("limits_minute", "60").
			Says("#type-scopes", "orders:read stock:*")
		opened := page.Revision("scopes")

		s.Post(path, "revision", opened, "scopes", "orders:read", "limits_day", "1000").LeadsTo(path)
		s.Get(path).
			Holds("days", "").
			Holds("limits_minute", "").
			Holds("limits_day", "1000").
			Says("#type-scopes", "orders:read")
		s.Post(path, "revision", s.Get(path).Revision("scopes"), "scopes", " ", "days", "7").
			Shows(422, "Key type partner").
			Holds("days", "7").
			Says("#type-scopes-error", "at least one")

		conflict := s.Post(path, "revision", opened, "scopes", "stock:read", "days", "30", "limits_minute", "5").
			Shows(412, "Changed since you opened it").
			Says("tbody", "orders:read").
			Says("tbody", "stock:read").
			Says("tbody", "1,000 a day").
			Says("tbody", "5 a minute")
		var mine []string
		for _, name := range []string{"revision", "scopes", "days", "limits_minute", "limits_day"} {
			mine = append(mine, name, conflict.Value("form:has([name=scopes]) [name="+name+"]"))
		}
		s.Post(path, mine...).LeadsTo(path)
		s.Get(path).
			Holds("days", "30").
			Holds("limits_minute", "5").
			Holds("limits_day", "").
			Says("#type-scopes", "stock:read")

		s.Post(path+"/delete").Shows(422, "Key type partner").Says("[role=alert]", "Tick the box")
		s.Submit(s.Get("/projects/shop").Action("owner"), "owner", "billing", "key_type", "partner").
			Shows(200, "Key created")
		s.Post(path+"/delete", "confirm", "true").
			Shows(409, "Key type partner").
			Says("[role=alert]", "1 key is of this type, 1 of them active").
			Says("dl", "Keys1")
		s.Post(list, "name", "spare", "scopes", "a").LeadsTo(list)
		s.Post(list+"/spare/delete", "confirm", "true").LeadsTo(list)
		s.Get(list).Says("[data-flash]", "deleted").Lacks("tbody a[href='" + list + "/spare']")

		s.Get(list+"/full").Shows(200, "Key type full").Says("dl", "built in").Lacks("form:has([name=scopes])")
		s.Post(list+"/full", "scopes", "read").Shows(409, "Key type full").Says("[role=alert]", "built in")
		s.Get(list+"/spare").Shows(404, "There is nothing here")
	})
}

// The API sets a lifetime to the second: saving the form, which asks for days, must
// not move it.
func TestSavingAKeyTypeKeepsTheSecondsOfItsLifetime(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := controlplane.NewOwnerWithShop(t, db)
		const path = "/projects/shop/key-types/short"
		callAPI(s, "POST", "/api/v1/projects/shop/key-types", `{"name":"short","scopes":["a"],"expires_in":100001}`)
		page := s.Get(path)
		s.Post(path, "revision", page.Revision("scopes"), "scopes", "b", "days", page.Value("[name=days]")).
			LeadsTo(path)
		s.Get("/projects/shop/key-types").Says("tbody", "100,001 seconds")
	})
}
