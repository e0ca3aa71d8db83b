package handlers_test

import (
	"fmt"
	"strings"
	"testing"

	"postern/core/policy"
	"postern/models"
	"postern/testkit/state"
	"postern/views/ui"
)

func TestMakeAProject(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newOwner(t, db)
		if s.get("/projects/new").is(200, "New project").Find("input[name=require_keys][checked]").Length() != 1 {
			t.Error("a new project asks for no keys unless told to")
		}
		s.post("/projects/new", "target", "ftp://x", "name", "No Name", "require_keys", "true").is(422, "New project").
			holds("target", "ftp://x").
			holds("name", "No Name").says("#target-error", "http").says("#name-error", "lower-case")
		made := s.makes("/projects/new", "target", " http://127.0.0.1:9 ", "name", "shop", "require_keys", "true").
			is(200, "shop is up")
		key := clean(made.Find("section[aria-labelledby=keys] code").Text())
		if !policy.WellFormedKey(key) {
			t.Errorf("the new key %q is none", key)
		}
		address := s.server.Config.Address("shop", "1.0.0", "prod")
		made.says("dl", address).says("#try-curl", key).says("#try-curl", address)
		if made.header.Get("Cache-Control") != "no-store" {
			t.Error("a page with a key may be cached")
		}
		s.post("/projects/new", "target", "http://127.0.0.1:9", "name", "shop").is(409, "New project").
			says("#name-error", `"shop" is taken`).lacks("input[name=require_keys][checked]")
		s.makes("/projects/new", "target", "http://127.0.0.1:9", "name", "open").
			is(200, "open is up").
			lacks("section[aria-labelledby=keys]")

		list := s.get("/projects").is(200, "Projects")
		if strings.Contains(list.raw, key) {
			t.Error("the key is shown a second time")
		}
		list.says("li:nth-child(1)", "Passthrough").says("li:nth-child(1)", "no active keys").
			says("li:nth-child(2)", address).
			says("li:nth-child(2)", "API keys").says("li:nth-child(2)", "1 active key · never exported")
		s.get(list.Find("li:nth-child(2) a:contains(Configure)").AttrOr("href", "")).is(200, "shop")
		s.get(list.Find("li:nth-child(2) a:contains(Export)").AttrOr("href", "")).is(200, "Export shop")
	})
}

func TestACardShowsAFewAddresses(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newOwner(t, db)
		var environments []string
		for i := range 7 {
			environments = append(environments, fmt.Sprintf(`"env-%d":{"target":"http://127.0.0.1:9"}`, i))
		}
		body := `{"target":"http://127.0.0.1:9","name":"many","environments":{` + strings.Join(environments, ",") + `}}`
		if made := s.ask("POST", "/proxy", body, []string{"Content-Type", "application/json"}); made.status != 201 {
			t.Fatalf("POST /proxy: %d %s", made.status, made.raw)
		}
		card := s.get("/projects").says("li", "3 more environments")
		if n := card.Find("li code").Length(); n != 4 {
			t.Errorf("the card shows %d addresses, want 4", n)
		}
	})
}

func TestSettingsAreSavedAndKeptWhenWrong(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := withShop(t, db)
		page := s.get("/projects/shop").is(200, "shop")
		settings, revision := page.action("display_name"), page.value("form:has([name=display_name]) [name=revision]")
		s.post(settings, "revision", revision, "display_name", "Storefront API").leadsTo("/projects/shop")
		s.get("/projects/shop").is(200, "Storefront API").says("[data-flash]", "The settings are saved.")
		s.get("/projects/shop").lacks("[data-flash]")
		long := strings.Repeat("x", 81)
		fresh := s.get("/projects/shop").value("form:has([name=display_name]) [name=revision]")
		s.post(settings, "revision", fresh, "display_name", long).
			is(422, "Storefront API").
			holds("display_name", long).
			says("#display-name-error", "80 characters")

		// The first revision is over: somebody saved meanwhile.
		conflict := s.post(settings, "revision", revision, "display_name", "Mine").
			is(412, "Changed since you opened it").
			says("tbody", "Storefront API").
			says("tbody", "Mine")
		s.post(conflict.action("display_name"), "revision", conflict.value("[name=revision]"), "display_name", conflict.value("[name=display_name]")).
			leadsTo("/projects/shop")
		s.get("/projects/shop").is(200, "Mine")
	})
}

func TestAMistakeKeepsTheRevisionItWasMadeOn(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := withShop(t, db)
		page := s.get("/projects/shop")
		action, opened := page.action("target"), page.value("form:has([name=target]) [name=revision]")
		s.post(action, "revision", opened, "target", "http://127.0.0.1:10").leadsTo("/projects/shop")
		again := s.post(action, "revision", opened, "target", "nonsense").is(422, "shop")
		s.post(action, "revision", again.value("form:has([name=target]) [name=revision]"), "target", "http://127.0.0.1:11").
			is(412, "Changed since you opened it").
			says("tbody", "http://127.0.0.1:10").
			says("tbody", "http://127.0.0.1:11")
	})
}

func TestAccessIsSavedInOneStep(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := withShop(t, db)
		page := s.get("/projects/shop")
		action, revision := page.action("mode"), page.value("form:has([name=mode]) [name=revision]")
		s.post(action, "revision", revision, "mode", "authenticate", "keyless", "reject").is(422, "shop").
			says("section[id^=ver_] fieldset:has([name=methods])", "at least one method").
			lacks("[name=methods][checked]")
		s.post(action, "revision", revision, "mode", "passthrough", "methods", "api_key", "keyless", "owner_fallback", "fallback_owner", "ä").
			is(422, "shop").
			holds("fallback_owner", "ä").
			says("section[id^=ver_]", "printable ASCII")
		if got := s.get("/projects/shop").value("[name=mode][checked]"); got != "authenticate" {
			t.Errorf("a refused form changed the mode to %s", got)
		}
		s.post(action, "revision", revision, "mode", "passthrough", "methods", "api_key", "keyless", "owner_fallback", "fallback_owner", "billing").
			leadsTo("/projects/shop")
		now := s.get("/projects/shop").
			holds("fallback_owner", "billing").
			says("[data-flash]", "access policy is saved").
			says("main", "Keys optional")
		for name, want := range map[string]string{
			"mode":    "passthrough",
			"methods": "api_key",
			"keyless": "owner_fallback",
		} {
			if got := now.value("[name=" + name + "][checked]"); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		conflict := s.post(action, "revision", revision, "mode", "authenticate", "methods", "api_key", "keyless", "owner_fallback", "fallback_owner", "mine").
			is(412, "Changed since you opened it").
			says("tbody", "Authenticate").
			says("tbody", "billing").
			says("tbody", "mine")
		s.post(conflict.action("mode"), "revision", conflict.value("[name=revision]"), "mode", conflict.value("[name=mode]"),
			"methods", conflict.value("[name=methods]"), "keyless", conflict.value("[name=keyless]"), "fallback_owner", conflict.value("[name=fallback_owner]")).
			leadsTo("/projects/shop")
		s.get("/projects/shop").holds("fallback_owner", "mine").says("main", "API keys")
	})
}

func TestTargetsAreChecked(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := withShop(t, db)
		page := s.get("/projects/shop").holds("target", "http://127.0.0.1:9/base")
		action, revision := page.action("target"), page.value("form:has([name=target]) [name=revision]")
		s.post(action, "revision", revision, "target", "http://10.0.0.1").
			is(422, "shop").
			holds("target", "http://10.0.0.1").
			says("form:has([name=target])", "not a public address")
		s.post(action, "revision", revision, "target", "http://127.0.0.1:10").leadsTo("/projects/shop")
		s.get("/projects/shop").holds("target", "http://127.0.0.1:10").says("[data-flash]", "target is saved")
		s.post("/projects/shop/environments/env_none", "target", "http://127.0.0.1:10").is(404, "There is nothing here")
	})
}

func TestKeysFromCreationToRevocation(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := withShop(t, db)
		action := s.get("/projects/shop").says("#keys", "1 key").action("owner")
		wrong := s.post(action, "owner", "ä", "key_type", "read-only", "environment", "moon", "expires_on", "2020-01-01", "description", "for tests").
			is(422, "shop").
			holds("owner", "ä").
			holds("expires_on", "2020-01-01").
			holds("description", "for tests").
			says("#key-owner-error", "printable ASCII").
			says("#key-expires-error", "100 years").
			says("#key-environment-error", "moon")
		if wrong.Find("details[open]").Length() != 1 || wrong.value("#key-type option[selected]") != "read-only" {
			t.Error("the refused form is closed or forgot the type")
		}
		s.post(action, "owner", "billing", "key_type", "full", "expires_on", "tomorrow").
			is(422, "shop").
			says("#key-expires-error", "2030-12-31")

		minted := s.makes(action, "owner", "billing", "key_type", "read-only", "environment", "prod", "expires_on", "2090-12-31").
			is(200, "Key created")
		key := clean(minted.Find("#new-key").Text())
		if !policy.WellFormedKey(key) || !strings.HasPrefix(key, "pst_prod_") {
			t.Errorf("the new key %q is not one of prod", key)
		}
		minted.says("dl", "31 Dec 2090, 23:59 UTC").says("#try-curl", key)

		list := s.get("/projects/shop").
			says("#keys", "2 keys").
			says("tbody tr:first-child", "billing").
			says("tbody tr:first-child", "read-only")
		path := list.Find("tbody tr:first-child a").AttrOr("href", "")
		s.get(path).is(200, "Key of billing").says("[data-panel]", "Active").says("[data-panel]", "31 Dec 2090")

		rotate := path + "/rotate"
		old := s.get(path).nonce(rotate)
		s.post(path + "/freeze").leadsTo(path)
		s.get(path).
			says("[data-flash]", "frozen").
			says("[data-panel]", "Frozen").
			lacks("form[action$='/freeze'], form[action$='/rotate']")
		s.post(rotate, "grace_seconds", "0", ui.NonceField, old).
			is(409, "Key of billing").
			says("[role=alert]", "Only an active key can be rotated")
		s.post(path + "/unfreeze").leadsTo(path)
		s.get(path).says("[data-flash]", "works again").says("[data-panel]", "Active")

		fresh := s.get(path).nonce(rotate)
		s.post(rotate, "grace_seconds", "9999999999", ui.NonceField, fresh).
			is(422, "Key of billing").
			says("#rotate-grace-error", "2592000")
		rotated := s.makes(rotate, "grace_seconds", "3600", ui.NonceField, fresh).
			is(200, "Key rotated").
			says("main", "The old secret works until")
		if clean(rotated.Find("#new-key").Text()) == key {
			t.Error("rotation kept the secret")
		}
		s.get(path).says("[data-panel]", "Old secret works until")

		s.post(path+"/revoke").is(422, "Key of billing").says("[role=alert]", "Tick the box")
		s.post(path+"/revoke", "confirm", "true").leadsTo(path)
		s.get(path).says("[data-flash]", "revoked").says("[data-panel]", "Revoked").lacks("[data-panel] form")
		s.post(path+"/unfreeze").is(409, "Key of billing").says("[role=alert]", "revoked")
		s.get("/projects").says("li", "1 active key ")
	})
}

func TestALongListOfKeysHasPages(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := withShop(t, db)
		action := s.get("/projects/shop").action("owner")
		for range 50 {
			s.makes(action, "owner", "billing", "key_type", "full").is(200, "Key created")
		}
		first := s.get("/projects/shop").says("#keys", "51 keys")
		older, _, _ := strings.Cut(first.Find("a:contains('Older keys')").AttrOr("href", ""), "#")
		if rows := first.Find("tbody tr:contains('Manage')").Length(); rows != 50 || older == "" {
			t.Fatalf("%d rows and the next page at %q, want 50 and an address", rows, older)
		}
		second := s.get(older).says("tbody:contains('Manage')", "bootstrap").lacks("a:contains('Older keys')")
		if rows := second.Find("tbody tr:contains('Manage')").Length(); rows != 1 {
			t.Errorf("%d rows on the second page, want 1", rows)
		}
	})
}

// A key's page answers below its own project only.
func TestKeysOfAnotherProjectAreNotFound(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := withShop(t, db)
		path := s.get("/projects/shop").Find("tbody a").AttrOr("href", "")
		s.makes("/projects/new", "target", "http://127.0.0.1:9", "name", "other").is(200, "other is up")
		elsewhere := strings.Replace(path, "/shop/", "/other/", 1)
		s.get(elsewhere).is(404, "There is nothing here")
		s.post(elsewhere+"/revoke", "confirm", "true").is(404, "There is nothing here")
		s.get(path).says("[data-panel]", "Active")
	})
}

// What another team owns answers as what does not exist, page by page.
func TestPagesOfAnotherTeamAreNotFound(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newOwner(t, db)
		made := call(t, s.server.Handler(), "POST", "/proxy", "", shop)
		if made.status != 201 {
			t.Fatalf("POST /proxy: %d %s", made.status, made.raw)
		}
		missing := s.get("/projects/none").is(404, "There is nothing here")
		for _, path := range []string{"/projects/shop", "/projects/shop/export"} {
			if got := s.get(path).is(404, "There is nothing here"); clean(
				got.Find("main p").Text(),
			) != clean(
				missing.Find("main p").Text(),
			) {
				t.Errorf("%s: not told the same as for what does not exist", path)
			}
		}
		for path, form := range map[string][]string{
			"/projects/shop/settings": {"display_name", "x"},
			"/projects/shop/keys":     {"owner", "x"},
			"/projects/shop/export":   {"format", "data"},
		} {
			s.post(path, form...).is(404, "There is nothing here")
		}
	})
}

func TestErrorsArePagesForPeopleAndProblemsForPrograms(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newOwner(t, db)
		s.get("/nowhere").is(404, "There is nothing here").lacks("#request-id")
		s.post("/projects/new", "target", strings.Repeat("x", 1<<20)).
			is(413, "This request could not be answered").
			says("main", "1 MiB")
		if got := s.get("/theme").is(405, "This request could not be answered"); got.header.Get("Allow") != "POST" {
			t.Errorf("Allow is %q", got.header.Get("Allow"))
		}
		if got := s.get("/nowhere", "Accept", "*/*"); got.header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("a program got %s", got.header.Get("Content-Type"))
		}
	})
}

func TestABrokenDatabaseIsAPageWithARequestID(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newOwner(t, db)
		if _, err := db.SQL().ExecContext(t.Context(), "DROP TABLE tokens"); err != nil {
			t.Fatal(err)
		}
		got := s.get("/projects").is(500, "Something went wrong on our side")
		got.says("#request-id", got.header.Get("X-Request-Id"))
		if strings.Contains(got.raw, "tokens") || got.header.Get("X-Request-Id") == "" {
			t.Error("the page tells the cause, or the answer has no request id")
		}
	})
}

func TestTokenIssuersAreSavedOnThePage(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := withShop(t, db)
		page := s.get("/projects/shop")
		action, revision := page.action("mode"), page.value("form:has([name=mode]) [name=revision]")
		s.post(action, "revision", revision, "mode", "authenticate", "methods", "jwt", "keyless", "reject", "token_issuers", "https://8.8.8.8").
			is(422, "shop").
			says("textarea[name=token_issuers]", "https://8.8.8.8").
			says("section[id^=ver_]", "ISSUER AUDIENCE")
		s.post(action, "revision", revision, "mode", "authenticate", "methods", "jwt", "keyless", "reject", "token_issuers", "http://8.8.8.8 shop").
			is(422, "shop").
			says("section[id^=ver_]", "Give the https address")
		const pairs = "https://8.8.8.8 shop\nhttps://1.1.1.1 shop tenant=default"
		s.post(action, "revision", revision, "mode", "authenticate", "methods", "jwt", "keyless", "reject", "token_issuers", pairs).
			leadsTo("/projects/shop")
		saved := s.get("/projects/shop")
		if got := saved.Find("textarea[name=token_issuers]").Text(); got != pairs {
			t.Errorf("the page shows the issuers %q, want %q", got, pairs)
		}
		if got := saved.value("[name=methods][checked]"); got != "jwt" {
			t.Errorf("the method is %q, want jwt", got)
		}
	})
}

func TestAccessBadge(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newOwner(t, db)
		pairs := `"jwt":{"allowed_pairs":[{"iss":"http://127.0.0.1:9","aud":"shop"}]}`
		for name, tt := range map[string]struct{ auth, want string }{
			"keys":   {`{"mode":"authenticate"}`, "API keys"},
			"tokens": {`{"mode":"authenticate","methods":["jwt"],` + pairs + `}`, "Tokens"},
			"both":   {`{"mode":"authenticate","methods":["api_key","jwt"],` + pairs + `}`, "Keys or tokens"},
			"open":   {`{"mode":"passthrough"}`, "Passthrough"},
		} {
			t.Run(name, func(t *testing.T) {
				s := s.in(t)
				body := `{"target":"http://127.0.0.1:9","name":"` + name + `","requests_auth":` + tt.auth + `}`
				if made := s.ask("POST", "/proxy", body, []string{"Content-Type", "application/json", "Accept", "application/json"}); made.status != 201 {
					t.Fatalf("%d %s", made.status, made.raw)
				}
				if got := clean(s.get("/projects").Find("li:has(a[href='/projects/" + name + "']) .badge").First().Text()); got != tt.want {
					t.Errorf("the badge says %q, want %q", got, tt.want)
				}
			})
		}
	})
}
