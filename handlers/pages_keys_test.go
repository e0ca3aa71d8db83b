package handlers_test

import (
	"net/url"
	"strings"
	"testing"

	"postern/models"
	"postern/testkit/state"
)

// serve makes a team's tenant and product, and gives both to the project shop.
func serveTenant(s *site, tenant, product string) {
	s.t.Helper()
	for _, step := range [][3]string{
		{"POST", "/api/v1/products", `{"name":"` + product + `"}`}, {"POST", "/api/v1/tenants", `{"name":"` + tenant + `"}`},
		{"PUT", "/api/v1/projects/shop/tenants/" + tenant, ""}, {"PATCH", "/api/v1/projects/shop", `{"product":"` + product + `"}`},
	} {
		if got := s.ask(step[0], step[1], step[2], []string{"Content-Type", "application/json", "Accept", "application/json"}); got.status >= 300 {
			s.t.Fatalf("%s %s: %d %s", step[0], step[1], got.status, got.raw)
		}
	}
}

func TestAKeyIsMadeWithAllThatItCanHave(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := withShop(t, db)
		s.get("/projects/shop").lacks("#key-tenant").lacks("[name=product]").lacks("#filter-tenant")
		serveTenant(s, "acme", "storefront")
		page := s.get("/projects/shop").says("form:has(#key-owner)", "Opens every project of storefront")
		if got := page.value("#key-tenant option[selected]"); got != "default" {
			t.Errorf("the form begins with tenant %s", got)
		}
		action := page.action("owner")
		form := []string{
			"owner",
			"billing",
			"key_type",
			"full",
			"tenant",
			"acme",
			"product",
			"storefront",
			"limits_of",
			"own",
			"limits_minute",
			"60",
			"limits_day",
			"1000",
		}

		wrong := s.post(action, append(form, "limits_hour", "5", "limits_year", "many", "allowed", "10.0.0.0/8\r\n\r\nlocalhost")...).
			is(422, "shop").
			says("#key-limit-hour-error", "Give 60 or more").
			says("#key-limit-year-error", "1 or more").
			says("#key-allowed-error", "localhost: Give an address range").
			holds("limits_minute", "60").
			holds("limits_hour", "5").
			holds("limits_year", "many").
			says("#key-allowed", "10.0.0.0/8 localhost")
		if strings.Contains(wrong.Find("#key-allowed-error").Text(), "10.0.0.0/8:") {
			t.Error("a range that is right is called wrong")
		}
		for selector, want := range map[string]string{
			"#key-tenant option[selected]":     "acme",
			"#key-product-storefront[checked]": "storefront",
			"[name=limits_of][checked]":        "own",
		} {
			if got := wrong.value(selector); got != want {
				t.Errorf("the refused form holds %q at %s, want %q", got, selector, want)
			}
		}
		s.makes(action, append(form, "allowed", "10.0.0.0/8\n 192.0.2.1 ")...).is(200, "Key created").
			says("dl", "every project of storefront").
			says("dl", "60 a minute, 1,000 a day (its own)").says("dl", "10.0.0.0/8, 192.0.2.1/32").says("dl", "acme")
		s.get("/projects/shop").says("#keys tbody tr:first-child", "Opens every project of storefront")
		s.post(action, "owner", "billing", "tenant", "nobody", "product", "another").is(422, "shop").
			says("#key-tenant-error", "serves no tenant").says("#key-product-error", "storefront")
	})
}

func TestAKeyIsChangedOnItsPage(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := withShop(t, db)
		path := s.get("/projects/shop").Find("#keys tbody a").AttrOr("href", "")
		opened := s.get(path).
			is(200, "Key of bootstrap").
			says("dl", "anywhere").
			says("dl", "this project").
			value("[name=revision]")
		form := func(revision string, more ...string) []string {
			return append(
				[]string{"revision", revision, "description", "For the night", "expires_on", "2090-01-02"},
				more...)
		}
		s.post(path, form(opened, "limits_of", "own", "limits_hour", "7", "limits_day", "9", "allowed", "2001:db8::/32")...).
			leadsTo(path)
		saved := s.get(path).
			says("[data-flash]", "The key is saved").
			says("dl", "For the night").
			says("dl", "2 Jan 2090, 23:59 UTC").
			says("dl", "7 an hour, 9 a day (its own)").
			says("dl", "2001:db8::/32").
			holds("limits_hour", "7").
			holds("expires_on", "2090-01-02")

		// A mistake keeps what was typed, and the revision it was typed on.
		revision := saved.value("[name=revision]")
		s.post(path, form(revision, "limits_of", "own", "limits_hour", "0", "allowed", "here")...).
			is(422, "Key of bootstrap").
			says("#edit-limit-hour-error", "1 or more").
			says("#edit-allowed-error", "here:").
			says("#edit-allowed", "here").
			holds("limits_hour", "0")

		// Nothing but the choice is read of numbers that the form hides.
		s.post(path, form(revision, "limits_of", "none", "limits_hour", "many")...).leadsTo(path)
		s.get(path).says("dl", "none, whatever its type has").says("dl", "2 Jan 2090").says("dl", "anywhere")

		conflict := s.post(path, form(opened, "limits_of", "type", "allowed", "192.0.2.1")...).
			is(412, "Changed since you opened it").
			says("tbody", "those of its type").
			says("tbody", "anywhere").
			says("tbody", "192.0.2.1")
		var mine []string
		for _, name := range []string{"revision", "description", "expires_on", "limits_of", "allowed"} {
			mine = append(mine, name, conflict.value("form:has([name=limits_of]) [name="+name+"]"))
		}
		s.post(path, mine...).leadsTo(path)
		s.get(path).says("dl", "192.0.2.1/32")
		if got := s.get(path).value("[name=limits_of][checked]"); got != "type" {
			t.Errorf("the limits are of %s after mine was saved", got)
		}

		s.post(path+"/revoke", "confirm", "true").leadsTo(path)
		s.get(path).lacks("[data-panel] form")
		s.post(path, form("")...).is(409, "Key of bootstrap").says("[role=alert]", "revoked")
	})
}

// A form knows the day of an expiry only: saving it again must not move the end.
func TestSavingAKeyKeepsTheHourOfItsEnd(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := withShop(t, db)
		path := s.get("/projects/shop").Find("#keys tbody a").AttrOr("href", "")
		id := path[strings.LastIndex(path, "/")+1:]
		ends := s.ask(
			"PATCH",
			"/api/v1/keys/"+id,
			`{"expires_at":"2090-01-02T03:04:00Z"}`,
			[]string{"Content-Type", "application/json", "Accept", "application/json"},
		)
		if ends.status != 200 {
			t.Fatalf("PATCH: %d %s", ends.status, ends.raw)
		}
		revision := s.get(path).value("[name=revision]")
		s.post(path, "revision", revision, "description", "x", "expires_on", "2090-01-02").leadsTo(path)
		again := s.get(path).says("dl", "2 Jan 2090, 03:04 UTC").value("[name=revision]")
		s.post(path, "revision", again, "expires_on", "").leadsTo(path)
		s.get(path).holds("expires_on", "")
	})
}

func TestKeysAreChosenAndPaged(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := withShop(t, db)
		action := s.get("/projects/shop").action("owner")
		for range 51 {
			s.makes(
				action,
				"owner", "billing",
				"key_type", "read-only",
				"environment", "prod",
				"description", "Nightly run",
			).
				is(200, "Key created")
		}
		first := s.get("/projects/shop?keys_owner=billing&keys_type=read-only&keys_environment=prod&keys_state=active&keys_text=nightly").
			says("#keys", "51 keys").
			holds("keys_owner", "billing").
			holds("keys_text", "nightly")
		for _, name := range []string{"type", "environment", "state"} {
			if first.Find("[name=keys_"+name+"] option[selected]").AttrOr("value", "") == "" {
				t.Errorf("the form forgot the %s", name)
			}
		}
		older, _, _ := strings.Cut(first.Find("a:contains('Older keys')").AttrOr("href", ""), "#")
		second := s.get(older).
			says("#keys tbody", "billing").
			holds("keys_owner", "billing").
			lacks("a:contains('Older keys')")
		if rows := second.Find("#keys tbody tr").Length(); rows != 1 {
			t.Errorf("%d rows on the second page, want the one that fits", rows)
		}
		newest, err := url.Parse(second.Find("a:contains('Newest keys')").AttrOr("href", ""))
		if err != nil || newest.Query().Get("keys_owner") != "billing" || newest.Query().Has("keys_before") {
			t.Errorf("the newest keys are at %v (%v)", newest, err)
		}
		s.makes(action, "owner", "everywhere", "key_type", "full").is(200, "Key created")
		s.get("/projects/shop?keys_environment=all").says("#keys", "1 key").says("#keys tbody", "everywhere")
		s.get("/projects/shop?keys_state=frozen").
			says("#keys", "No key has all of what you chose").
			lacks("#keys tbody").
			says("form[role=search] a", "Clear")
	})
}

// A key of a product is listed in each of its projects, and leads to its own.
func TestAKeyOfAProductLeadsHome(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := withShop(t, db)
		serveTenant(s, "acme", "storefront")
		s.makes(s.get("/projects/shop").action("owner"), "owner", "wide", "product", "storefront").
			is(200, "Key created")
		s.makes("/projects/new", "target", "http://127.0.0.1:9", "name", "books").is(200, "books is up")
		if got := s.ask("PATCH", "/api/v1/projects/books", `{"product":"storefront"}`, []string{"Content-Type", "application/json", "Accept", "application/json"}); got.status >= 300 {
			t.Fatalf("PATCH books: %d %s", got.status, got.raw)
		}
		list := s.get("/projects/books").says("#keys tbody", "wide")
		s.get(list.Find("#keys tbody a").AttrOr("href", "")).
			is(200, "Key of wide").
			says("dl", "every project of storefront")
	})
}
