package pages_test

import (
	"fmt"
	"strings"
	"testing"

	"postern/core/policy"
	"postern/models"
	"postern/testkit/controlplane"
	"postern/testkit/state"
	"postern/views/ui"
)

func TestMakeAProject(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := controlplane.NewOwner(t, db)
		if s.Get("/projects/new").Shows(200, "New project").Find("input[name=require_keys][checked]").Length() != 1 {
			t.Error("a new project asks for no keys unless told to")
		}
		s.Post(
			"/projects/new",
			"target",
			"ftp://x",
			"name",
			"No Name",
			"require_keys",
			"true",
		).Shows(
			422, "New project",
		).
			Holds(
				"target",
				"ftp://x",
			).
			Holds(
				"name", "No Name",
			).Says(
			"#target-error",
			"http",
		).Says(
			"#name-error", "lower-case",
		)
		made := s.Submit("/projects/new", "target", " http://127.0.0.1:9 ", "name", "shop", "require_keys", "true").
			Shows(200, "shop is up")
		key := controlplane.Clean(made.Find("section[aria-labelledby=keys] code").Text())
		if !policy.WellFormedKey(key) {
			t.Errorf("the new key %q is none", key)
		}
		address := s.Server.Config.Address("shop", "1.0.0", "prod")
		made.Says("dl", address).Says("#try-curl", key).Says("#try-curl", address)
		if made.Header.Get("Cache-Control") != "no-store" {
			t.Error("a page with a key may be cached")
		}
		s.Post("/projects/new", "target", "http://127.0.0.1:9", "name", "shop").Shows(409, "New project").
			Says("#name-error", `"shop" is taken`).Lacks("input[name=require_keys][checked]")
		s.Submit("/projects/new", "target", "http://127.0.0.1:9", "name", "open").
			Shows(200, "open is up").
			Lacks("section[aria-labelledby=keys]")

		list := s.Get("/projects").Shows(200, "Projects")
		if strings.Contains(list.Raw, key) {
			t.Error("the key is shown a second time")
		}
		list.Says("li:nth-child(1)", "Passthrough").Says("li:nth-child(1)", "no active keys").
			Says("li:nth-child(2)", address).
			Says("li:nth-child(2)", "API keys").Says("li:nth-child(2)", "1 active key · never exported")
		s.Get(list.Find("li:nth-child(2) a:contains(Configure)").AttrOr("href", "")).Shows(200, "shop")
		s.Get(list.Find("li:nth-child(2) a:contains(Export)").AttrOr("href", "")).Shows(200, "Export shop")
	})
}

func TestACardShowsAFewAddresses(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := controlplane.NewOwner(t, db)
		var environments []string
		for i := range 7 {
			environments = append(environments, fmt.Sprintf(`"env-%d":{"target":"http://127.0.0.1:9"}`, i))
		}
		body := `{"target":"http://127.0.0.1:9","name":"many","environments":{` + strings.Join(environments, ",") + `}}`
		if made := s.Do("POST", "/proxy", body, []string{"Content-Type", "application/json"}); made.Status != 201 {
			t.Fatalf("POST /proxy: %d %s", made.Status, made.Raw)
		}
		card := s.Get("/projects").Says("li", "3 more environments")
		if n := card.Find("li code").Length(); n != 4 {
			t.Errorf("the card shows %d addresses, want 4", n)
		}
	})
}

func TestSettingsAreSavedAndKeptWhenWrong(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := controlplane.NewOwnerWithShop(t, db)
		page := s.Get("/projects/shop").Shows(200, "shop")
		settings, revision := page.Action("display_name"), page.Value("form:has([name=display_name]) [name=revision]")
		s.Post(settings, "revision", revision, "display_name", "Storefront API").LeadsTo("/projects/shop")
		s.Get("/projects/shop").Shows(200, "Storefront API").Says("[data-flash]", "The settings are saved.")
		s.Get("/projects/shop").Lacks("[data-flash]")
		long := strings.Repeat("x", 81)
		fresh := s.Get("/projects/shop").Value("form:has([name=display_name]) [name=revision]")
		s.Post(settings, "revision", fresh, "display_name", long).
			Shows(422, "Storefront API").
			Holds("display_name", long).
			Says("#display-name-error", "80 characters")

		// The first revision is over: somebody saved meanwhile.
		conflict := s.Post(settings, "revision", revision, "display_name", "Mine").
			Shows(412, "Changed since you opened it").
			Says("tbody", "Storefront API").
			Says("tbody", "Mine")
		s.Post(
			conflict.Action("display_name"), "revision", conflict.Value("[name=revision]"), "display_name",
			conflict.Value("[name=display_name]"),
		).
			LeadsTo(
				"/projects/shop",
			)
		s.Get("/projects/shop").Shows(200, "Mine")
	})
}

func TestAMistakeKeepsTheRevisionItWasMadeOn(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := controlplane.NewOwnerWithShop(t, db)
		page := s.Get("/projects/shop")
		action, opened := page.Action("target"), page.Value("form:has([name=target]) [name=revision]")
		s.Post(action, "revision", opened, "target", "http://127.0.0.1:10").LeadsTo("/projects/shop")
		again := s.Post(action, "revision", opened, "target", "nonsense").Shows(422, "shop")
		s.Post(
			action,
			"revision",
			again.Value("form:has([name=target]) [name=revision]"),
			"target",
			"http://127.0.0.1:11",
		).
			Shows(
				412, "Changed since you opened it",
			).
			Says(
				"tbody",
				"http://127.0.0.1:10",
			).
			Says(
				"tbody",
				"http://127.0.0.1:11",
			)
	})
}

func TestAccessIsSavedInOneStep(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := controlplane.NewOwnerWithShop(t, db)
		page := s.Get("/projects/shop")
		action, revision := page.Action("mode"), page.Value("form:has([name=mode]) [name=revision]")
		s.Post(action, "revision", revision, "mode", "authenticate", "keyless", "reject").Shows(422, "shop").
			Says("section[id^=ver_] fieldset:has([name=methods])", "at least one method").
			Lacks("[name=methods][checked]")
		s.Post(
			action, "revision", revision, "mode", "passthrough", "methods", "api_key", "keyless",
			"owner_fallback", "fallback_owner", "ä",
		).
			Shows(
				422, "shop",
			).
			Holds(
				"fallback_owner", "ä",
			).
			Says(
				"section[id^=ver_]", "printable ASCII",
			)
		if got := s.Get("/projects/shop").Value("[name=mode][checked]"); got != "authenticate" {
			t.Errorf("a refused form changed the mode to %s", got)
		}
		s.Post(
			action, "revision", revision, "mode", "passthrough", "methods", "api_key", "keyless",
			"owner_fallback", "fallback_owner", "billing",
		).
			LeadsTo(
				"/projects/shop",
			)
		now := s.Get("/projects/shop").
			Holds("fallback_owner", "billing").
			Says("[data-flash]", "access policy is saved").
			Says("main", "Keys optional")
		for name, want := range map[string]string{
			"mode":    "passthrough",
			"methods": "api_key",
			"keyless": "owner_fallback",
		} {
			if got := now.Value("[name=" + name + "][checked]"); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		conflict := s.Post(
			action, "revision", revision, "mode", "authenticate", "methods", "api_key", "keyless",
			"owner_fallback", "fallback_owner", "mine",
		).
			Shows(
				412, "Changed since you opened it",
			).
			Says(
				"tbody", "Authenticate",
			).
			Says(
				"tbody", "billing",
			).
			Says(
				"tbody", "mine",
			)
		s.Post(
			conflict.Action("mode"), "revision", conflict.Value("[name=revision]"), "mode",
			conflict.Value("[name=mode]"), "methods", conflict.Value("[name=methods]"), "keyless",
			conflict.Value("[name=keyless]"), "fallback_owner", conflict.Value("[name=fallback_owner]"),
		).
			LeadsTo(
				"/projects/shop",
			)
		s.Get("/projects/shop").Holds("fallback_owner", "mine").Says("main", "API keys")
	})
}

func TestTargetsAreChecked(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := controlplane.NewOwnerWithShop(t, db)
		page := s.Get("/projects/shop").Holds("target", "http://127.0.0.1:9/base")
		action, revision := page.Action("target"), page.Value("form:has([name=target]) [name=revision]")
		s.Post(action, "revision", revision, "target", "http://10.0.0.1").
			Shows(422, "shop").
			Holds("target", "http://10.0.0.1").
			Says("form:has([name=target])", "not a public address")
		s.Post(action, "revision", revision, "target", "http://127.0.0.1:10").LeadsTo("/projects/shop")
		s.Get("/projects/shop").Holds("target", "http://127.0.0.1:10").Says("[data-flash]", "target is saved")
		s.Post(
			"/projects/shop/environments/env_none",
			"target",
			"http://127.0.0.1:10",
		).Shows(
			404, "There is nothing here",
		)
	})
}

func TestKeysFromCreationToRevocation(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := controlplane.NewOwnerWithShop(t, db)
		action := s.Get("/projects/shop").Says("#keys", "1 key").Action("owner")
		wrong := s.Post(
			action, "owner", "ä", "key_type", "read-only", "environment", "moon", "expires_on", "2020-01-01",
			"description", "for tests",
		).
			Shows(
				422, "shop",
			).
			Holds(
				"owner", "ä",
			).
			Holds(
				"expires_on", "2020-01-01",
			).
			Holds(
				"description", "for tests",
			).
			Says(
				"#key-owner-error", "printable ASCII",
			).
			Says(
				"#key-expires-error", "100 years",
			).
			Says(
				"#key-environment-error", "moon",
			)
		if wrong.Find("details[open]").Length() != 1 || wrong.Value("#key-type option[selected]") != "read-only" {
			t.Error("the refused form is closed or forgot the type")
		}
		s.Post(action, "owner", "billing", "key_type", "full", "expires_on", "tomorrow").
			Shows(422, "shop").
			Says("#key-expires-error", "2030-12-31")

		minted := s.Submit(
			action, "owner", "billing", "key_type", "read-only", "environment", "prod", "expires_on",
			"2090-12-31",
		).
			Shows(
				200, "Key created",
			)
		key := controlplane.Clean(minted.Find("#new-key").Text())
		if !policy.WellFormedKey(key) || !strings.HasPrefix(key, "pst_prod_") {
			t.Errorf("the new key %q is not one of prod", key)
		}
		minted.Says("dl", "31 Dec 2090, 23:59 UTC").Says("#try-curl", key)

		list := s.Get("/projects/shop").
			Says("#keys", "2 keys").
			Says("tbody tr:first-child", "billing").
			Says("tbody tr:first-child", "read-only")
		path := list.Find("tbody tr:first-child a").AttrOr("href", "")
		s.Get(path).Shows(200, "Key of billing").Says("[data-panel]", "Active").Says("[data-panel]", "31 Dec 2090")

		rotate := path + "/rotate"
		old := s.Get(path).Nonce(rotate)
		s.Post(path + "/freeze").LeadsTo(path)
		s.Get(path).
			Says("[data-flash]", "frozen").
			Says("[data-panel]", "Frozen").
			Lacks("form[action$='/freeze'], form[action$='/rotate']")
		s.Post(rotate, "grace_seconds", "0", ui.NonceField, old).
			Shows(409, "Key of billing").
			Says("[role=alert]", "Only an active key can be rotated")
		s.Post(path + "/unfreeze").LeadsTo(path)
		s.Get(path).Says("[data-flash]", "works again").Says("[data-panel]", "Active")

		fresh := s.Get(path).Nonce(rotate)
		s.Post(rotate, "grace_seconds", "9999999999", ui.NonceField, fresh).
			Shows(422, "Key of billing").
			Says("#rotate-grace-error", "2592000")
		rotated := s.Submit(rotate, "grace_seconds", "3600", ui.NonceField, fresh).
			Shows(200, "Key rotated").
			Says("main", "The old secret works until")
		if controlplane.Clean(rotated.Find("#new-key").Text()) == key {
			t.Error("rotation kept the secret")
		}
		s.Get(path).Says("[data-panel]", "Old secret works until")

		s.Post(path+"/revoke").Shows(422, "Key of billing").Says("[role=alert]", "Tick the box")
		s.Post(path+"/revoke", "confirm", "true").LeadsTo(path)
		s.Get(path).Says("[data-flash]", "revoked").Says("[data-panel]", "Revoked").Lacks("[data-panel] form")
		s.Post(path+"/unfreeze").Shows(409, "Key of billing").Says("[role=alert]", "revoked")
		s.Get("/projects").Says("li", "1 active key ")
	})
}

func TestALongListOfKeysHasPages(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := controlplane.NewOwnerWithShop(t, db)
		action := s.Get("/projects/shop").Action("owner")
		for range 50 {
			s.Submit(action, "owner", "billing", "key_type", "full").Shows(200, "Key created")
		}
		first := s.Get("/projects/shop").Says("#keys", "51 keys")
		older, _, _ := strings.Cut(first.Find("a:contains('Older keys')").AttrOr("href", ""), "#")
		if rows := first.Find("tbody tr:contains('Manage')").Length(); rows != 50 || older == "" {
			t.Fatalf("%d rows and the next page at %q, want 50 and an address", rows, older)
		}
		second := s.Get(older).Says("tbody:contains('Manage')", "bootstrap").Lacks("a:contains('Older keys')")
		if rows := second.Find("tbody tr:contains('Manage')").Length(); rows != 1 {
			t.Errorf("%d rows on the second page, want 1", rows)
		}
	})
}

// A key's page answers below its own project only.
func TestKeysOfAnotherProjectAreNotFound(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := controlplane.NewOwnerWithShop(t, db)
		path := s.Get("/projects/shop").Find("tbody a").AttrOr("href", "")
		s.Submit("/projects/new", "target", "http://127.0.0.1:9", "name", "other").Shows(200, "other is up")
		elsewhere := strings.Replace(path, "/shop/", "/other/", 1)
		s.Get(elsewhere).Shows(404, "There is nothing here")
		s.Post(elsewhere+"/revoke", "confirm", "true").Shows(404, "There is nothing here")
		s.Get(path).Says("[data-panel]", "Active")
	})
}

// What another team owns answers as what does not exist, page by page.
func TestPagesOfAnotherTeamAreNotFound(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := controlplane.NewOwner(t, db)
		made := controlplane.Call(t, s.Server.Handler(), "POST", "/proxy", "", controlplane.ShopBody)
		if made.Status != 201 {
			t.Fatalf("POST /proxy: %d %s", made.Status, made.Raw)
		}
		missing := s.Get("/projects/none").Shows(404, "There is nothing here")
		for _, path := range []string{"/projects/shop", "/projects/shop/export"} {
			if got := s.Get(path).Shows(404, "There is nothing here"); controlplane.Clean(
				got.Find("main p").Text(),
			) != controlplane.Clean(
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
			s.Post(path, form...).Shows(404, "There is nothing here")
		}
	})
}

func TestErrorsArePagesForPeopleAndProblemsForPrograms(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := controlplane.NewOwner(t, db)
		s.Get("/nowhere").Shows(404, "There is nothing here").Lacks("#request-id")
		s.Post("/projects/new", "target", strings.Repeat("x", 1<<20)).
			Shows(413, "This request could not be answered").
			Says("main", "1 MiB")
		if got := s.Get("/theme").Shows(405, "This request could not be answered"); got.Header.Get("Allow") != "POST" {
			t.Errorf("Allow is %q", got.Header.Get("Allow"))
		}
		if got := s.Get("/nowhere", "Accept", "*/*"); got.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("a program got %s", got.Header.Get("Content-Type"))
		}
	})
}

func TestABrokenDatabaseIsAPageWithARequestID(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := controlplane.NewOwner(t, db)
		if _, err := db.SQL().ExecContext(t.Context(), "DROP TABLE tokens"); err != nil {
			t.Fatal(err)
		}
		got := s.Get("/projects").Shows(500, "Something went wrong on our side")
		got.Says("#request-id", got.Header.Get("X-Request-Id"))
		if strings.Contains(got.Raw, "tokens") || got.Header.Get("X-Request-Id") == "" {
			t.Error("the page tells the cause, or the answer has no request id")
		}
	})
}

func TestTokenIssuersAreSavedOnThePage(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := controlplane.NewOwnerWithShop(t, db)
		page := s.Get("/projects/shop")
		action, revision := page.Action("mode"), page.Value("form:has([name=mode]) [name=revision]")
		s.Post(
			action,
			"revision",
			revision,
			"mode",
			"authenticate",
			"methods",
			"jwt",
			"keyless",
			"reject",
			"token_issuers",
			"https://8.8.8.8",
		).
			Shows(
				422, "shop",
			).
			Says(
				"textarea[name=token_issuers]",
				"https://8.8.8.8",
			).
			Says(
				"section[id^=ver_]", "ISSUER AUDIENCE",
			)
		s.Post(
			action,
			"revision",
			revision,
			"mode",
			"authenticate",
			"methods",
			"jwt",
			"keyless",
			"reject",
			"token_issuers",
			"http://8.8.8.8 shop",
		).
			Shows(
				422, "shop",
			).
			Says(
				"section[id^=ver_]", "Give the https address",
			)
		const pairs = "https://8.8.8.8 shop\nhttps://1.1.1.1 shop tenant=default"
		s.Post(
			action, "revision", revision, "mode", "authenticate", "methods", "jwt", "keyless", "reject",
			"token_issuers", pairs,
		).
			LeadsTo(
				"/projects/shop",
			)
		saved := s.Get("/projects/shop")
		if got := saved.Find("textarea[name=token_issuers]").Text(); got != pairs {
			t.Errorf("the page shows the issuers %q, want %q", got, pairs)
		}
		if got := saved.Value("[name=methods][checked]"); got != "jwt" {
			t.Errorf("the method is %q, want jwt", got)
		}
	})
}

func TestAccessBadge(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := controlplane.NewOwner(t, db)
		pairs := `"jwt":{"allowed_pairs":[{"iss":"http://127.0.0.1:9","aud":"shop"}]}`
		for name, tt := range map[string]struct{ auth, want string }{
			"keys":   {`{"mode":"authenticate"}`, "API keys"},
			"tokens": {`{"mode":"authenticate","methods":["jwt"],` + pairs + `}`, "Tokens"},
			"both":   {`{"mode":"authenticate","methods":["api_key","jwt"],` + pairs + `}`, "Keys or tokens"},
			"open":   {`{"mode":"passthrough"}`, "Passthrough"},
		} {
			t.Run(name, func(t *testing.T) {
				s := s.WithT(t)
				body := `{"target":"http://127.0.0.1:9","name":"` + name + `","requests_auth":` + tt.auth + `}`
				if made := s.Do("POST", "/proxy", body, []string{"Content-Type", "application/json", "Accept", "application/json"}); made.Status != 201 {
					t.Fatalf("%d %s", made.Status, made.Raw)
				}
				if got := controlplane.Clean(s.Get("/projects").Find("li:has(a[href='/projects/" + name + "']) .badge").First().Text()); got != tt.want {
					t.Errorf("the badge says %q, want %q", got, tt.want)
				}
			})
		}
	})
}
