package handlers_test

import (
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"postern/models"
	"postern/platform/secrets"
	"postern/testkit/state"
	"postern/views/ui"
)

// newLoginTab is an owner with a project called shop and the path of its login tab.
func newLoginTab(t *testing.T, db *models.DB) (*site, string) {
	t.Helper()
	s := newOwner(t, db)
	s.makes("/projects/new", "target", "http://127.0.0.1:9", "name", "shop", "require_keys", "true").
		is(200, "shop is up")
	return s, "/projects/shop/login"
}

func TestAnAppClientIsMadeAndChangedInTheDashboard(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, tab := newLoginTab(t, db)
		tenant := s.get(tab).is(200, "shop").Find("select[name=tenant] option").AttrOr("value", "")
		s.post(tab, "tenant", tenant, "name", "web", "redirect_uris", "https://app.example.com/cb\n\nhttp://app.example.com/cb").
			is(422, "shop").
			says("#client-redirects-error", "http://app.example.com/cb: Use https").
			holds("name", "web")
		path := s.post(tab, "tenant", tenant, "name", "web", "redirect_uris", "https://app.example.com/cb\n").location()
		s.get(tab).says("tbody", "web").says("tbody", "https://app.example.com/cb").says("tbody", "none")
		page := s.get(path).
			is(200, "web").
			holds("access_minutes", "10").
			holds("refresh_days", "30").
			says("#test-problem", "No provider is on")
		revision := page.Find("#settings [name=revision]").AttrOr("value", "")
		form := []string{
			"revision",
			revision,
			"name",
			"web",
			"redirect_uris",
			"https://app.example.com/cb",
			"access_minutes",
			"5",
			"refresh_days",
			"0.5",
			"algorithm",
			"ES256",
		}
		s.post(path, form...).leadsTo(path)
		s.get(path).
			says("[data-flash]", "saved").
			holds("access_minutes", "5").
			holds("refresh_days", "0.5").
			says("#connect", "last 5 minutes, signed with ES256").
			says("#connect", "refreshed for 12 hours")
		s.post(path, form...).is(412, "Changed since you opened it").says("main", "Tokens last, in minutes")
		s.post(path, "name", "web", "access_minutes", "soon", "refresh_days", "91", "algorithm", "ES256").
			is(422, "web").
			says("#client-access-error", "1 to 1440").
			says("#client-refresh-error", "0 to 90")
		s.post(path+"/delete").is(422, "web").says("#delete", "Tick the box")
		s.post(path+"/delete", "confirm", "true").leadsTo(tab)
		s.get(tab).says("main", "No app clients yet")
	})
}

func TestBrandingIsSeenBeforeItIsSaved(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, tab := newLoginTab(t, db)
		path := s.makeWeb(tab)
		typed := []string{
			"title",
			"Acme <b>",
			"welcome",
			"Hello",
			"color",
			"#0A7D55",
			"logo_url",
			"https://cdn.example; script-src *",
		}
		page := s.post(path+"/preview", typed...).is(200, "Sign in to Acme <b>")
		if policy := page.header.Get("Content-Security-Policy"); strings.Contains(policy, "cdn.example") ||
			page.Find("link[href='/brand/0a7d55']").Length() != 1 {
			t.Errorf("the preview has the policy %s and %s", policy, page.raw)
		}
		if sheet := s.get("/brand/0a7d55"); sheet.raw != ":root{--brand:#0a7d55;--brand-ink:#ffffff}\n" {
			t.Errorf("the colour is %q", sheet.raw)
		}
		s.get("/brand/red").is(404, "There is nothing here")
		s.post(path+"/branding", typed...).is(422, "web").says("#brand-logo-error", "https").holds("color", "#0a7d55")
		typed[7] = "https://cdn.example/logo.png"
		s.post(path+"/branding", typed...).leadsTo(path)
		saved := s.get(path).holds("title", "Acme <b>").says("#branding figure", "Sign in to Acme <b>")
		if !strings.Contains(saved.header.Get("Content-Security-Policy"), "https://cdn.example") ||
			saved.Find("#branding img").Length() != 2 {
			t.Error("the saved logo is not shown")
		}
	})
}

func TestAProviderIsSetUpInTheDashboard(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, tab := newLoginTab(t, db)
		path := s.makeWeb(tab)
		if n := s.get(path).Find("#providers li").Length(); n != 6 {
			t.Errorf("%d rows of providers, want one for each kind", n)
		}
		s.get(path+"/providers?type=auth0").is(200, "Set up Auth0").says("label[for=provider-issuer]", "Domain")
		s.post(path+"/providers", "type", "auth0").
			is(422, "Set up Auth0").
			says("#provider-issuer-error", "needs its issuer")
		google := s.post(path+"/providers", "type", "google").location()
		id := google[strings.LastIndex(google, "/")+1:]
		s.get(google).is(200, "Google").says("#provider-callback", "/callback/"+id)
		s.post(google+"/switch", "enabled", "true").is(422, "web").says("#providers", "Give the client id")
		form := []string{
			"client_id",
			"app-1",
			"client_secret",
			"canary-secret",
			"scopes",
			"openid email",
			"tokens",
			"service/none",
			"enabled",
			"true",
		}
		s.post(google, form...).is(422, "Google").says("main", "looks at no tokens")
		access := s.get("/projects/shop").Find("form[action$='/access']").AttrOr("action", "")
		s.post(access, "mode", "authenticate", "methods", "jwt", "keyless", "reject").leadsTo("/projects/shop")
		s.post(google, form...).leadsTo(path + "#providers")
		s.post(access, "mode", "authenticate", "methods", "api_key", "keyless", "reject").
			is(422, "shop").
			says("main", "looks at no tokens")
		s.get(path).
			says("#providers li", "App app-1").
			says("#branding figure", "Continue with Google").
			lacks("#test-problem")
		before := s.get(google)
		if strings.Contains(before.raw, "canary-secret") {
			t.Error("the secret is shown again")
		}
		kept := secretOf(t, s, db, id)
		s.post(google+"/switch", "enabled", "false").leadsTo(path + "#providers")
		s.post(google, "revision", "1", "client_id", "app-2", "client_secret", "canary-secret", "tokens", "service/service").
			is(412, "Changed since you opened it").
			says("main", "pasted again").
			lacks("input[value='canary-secret']")
		s.post(google+"/switch", "enabled", "true").leadsTo(path + "#providers")
		if kept != "canary-secret" || secretOf(t, s, db, id) != kept {
			t.Errorf("the secret was %q and is %q", kept, secretOf(t, s, db, id))
		}
		s.post(google+"/delete", "confirm", "true").leadsTo(path + "#providers")
		s.get(path).says("#test-problem", "No provider is on")
	})
}

func secretOf(t *testing.T, s *site, db *models.DB, provider string) secrets.Secret {
	t.Helper()
	row, err := db.Read(t.Context()).ProviderByID(provider)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := s.server.Login.Vault.Open(db.Read(t.Context()), secrets.Place{
		Table:  "providers",
		Row:    provider,
		Column: "client_secret",
	}, row.ClientSecret)
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

func TestTheInstallationsGitHubIsOfferedWhereThereIsOne(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, tab := newLoginTab(t, db)
		path := s.makeWeb(tab)
		s.get(path+"/providers?type=github").is(200, "Set up GitHub").lacks("[name=managed]")
		s.server.Login.Shared.ClientID = "shared"
		s.get(path+"/providers?type=github").says("fieldset", "The installation's")
		s.post(path+"/providers", "type", "github", "managed", "true").leadsTo(path + "#providers")
		s.get(path).says("#providers li", "The installation's own app").says("#providers li", "on")
	})
}

func TestAClientSecretIsShownOnceAndRotated(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, tab := newLoginTab(t, db)
		path := s.makeWeb(tab)
		read := func(page *seen) string { return clean(page.is(200, "Client secret of web").Find("#new-secret").Text()) }
		change := func(form ...string) *seen {
			return s.post(path+"/secret", append(form, ui.NonceField, s.get(path).nonce(path+"/secret"))...)
		}
		first := read(s.follow(change("kind", "confidential")))
		change("kind", "confidential").is(422, "web").says("#secret", "Tick the box")
		second := read(s.follow(change("kind", "confidential", "confirm", "true")))
		if first == second || len(second) < 40 || strings.Contains(s.get(path).raw, second) {
			t.Errorf("secrets %q and %q", first, second)
		}
		change("kind", "public", "confirm", "true").leadsTo(path)
		s.get(path).says("#secret", "This app client is public")
	})
}

// An app client's page is below each project that serves its tenant, and no other.
func TestAnAppClientIsNotFoundBelowAnotherProject(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, tab := newLoginTab(t, db)
		path := s.makeWeb(tab)
		tenant := s.get(tab).Find("select[name=tenant] option").AttrOr("value", "")
		s.makes("/projects/new", "target", "http://127.0.0.1:9", "name", "books", "require_keys", "true").
			is(200, "books is up")
		s.get(strings.Replace(path, "/shop/", "/books/", 1)).is(404, "There is nothing here")
		s.post("/projects/books/login", "tenant", tenant, "name", "other").is(404, "There is nothing here")
		s.get(path).Find("form").Each(func(_ int, form *goquery.Selection) {
			if action := form.AttrOr("action", ""); strings.Contains(action, "books") {
				t.Errorf("a form of the other project: %s", action)
			}
		})
	})
}
