package pages_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"postern/models"
	"postern/platform/secrets"
	"postern/testkit/controlplane"
	"postern/testkit/state"
	"postern/views/ui"
)

// newLoginTab is an owner with a project called shop and the path of its login tab.
func newLoginTab(t *testing.T, db *models.DB) (*controlplane.Browser, string) {
	t.Helper()
	s := controlplane.NewOwner(t, db)
	s.Submit("/projects/new", "target", "http://127.0.0.1:9", "name", "shop", "require_keys", "true").
		Shows(200, "shop is ready")
	return s, "/projects/shop/login"
}

func TestAppClient_page(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, tab := newLoginTab(t, db)
	tenant := s.Get(tab).Shows(200, "Login").Find("select[name=tenant] option").AttrOr("value", "")
	s.Post(tab,
		"tenant", tenant, "name", "web",
		"redirect_uris", "https://app.example.com/cb\n\nhttp://app.example.com/cb",
	).Shows(422, "Login").
		Says("#client-redirects-error", "http://app.example.com/cb: Use https").
		Holds("name", "web")
	path := s.Post(tab, "tenant", tenant, "name", "web", "redirect_uris", "https://app.example.com/cb\n").Location()
	s.Get(tab).Says("tbody", "web").Says("tbody", "https://app.example.com/cb").Says("tbody", "none")
	page := s.Get(path).
		Shows(200, "web").
		Holds("access_minutes", "10").
		Holds("refresh_days", "30").
		Says("#test-problem", "No provider is turned on")
	revision := page.Find("#settings [name=revision]").AttrOr("value", "")
	form := []string{
		"revision",
		revision,
		"name",
		"web",
		"redirect_uris",
		"https://app.example.com/cb",
		"backchannel_logout_uri",
		"https://app.example.com/ended",
		"access_minutes",
		"1,440",
		"refresh_days",
		"0.5",
		"algorithm",
		"ES256",
	}
	s.Post(path, form...).LeadsTo(path)
	s.Get(path).
		Says("[data-flash]", "Saved").
		Holds("access_minutes", "1440").
		Holds("refresh_days", "0.5").
		Holds("backchannel_logout_uri", "https://app.example.com/ended").
		Says("#connect", "Valid for 1 day, signed with ES256").
		Says("#connect", "stay signed in for up to 12 hours")
	s.Post(path, form...).Shows(412, "Changed since you opened this page").Says("main", "Token lifetime (minutes)")
	s.Post(
		path, "name", "web", "access_minutes", "soon", "refresh_days", "91", "algorithm", "ES256",
		"backchannel_logout_uri", "http://app.example.com/ended",
	).
		Shows(422, "web").
		Says("#client-backchannel-error", "https").
		Says("#client-access-error", "Enter a number. Use 1 to 1,440 minutes.").
		Says("#client-refresh-error", "Use 0 to 90 days.")
	s.Post(path+"/delete").Shows(422, "web").Says("#delete-confirm-error", "Type web to confirm.")
	s.Post(path+"/delete", "typed_name", "web").LeadsTo(tab)
	s.Get(tab).Says("main", "No app clients yet")
}

func TestBranding_preview(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, tab := newLoginTab(t, db)
	path := s.CreateAppClient(tab)
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
	page := s.Post(path+"/preview", typed...).Shows(200, "Sign in to Acme <b>")
	if policy := page.Header.Get("Content-Security-Policy"); strings.Contains(policy, "cdn.example") ||
		page.Find("link[href='/brand/0a7d55']").Length() != 1 {
		t.Errorf("the preview has the policy %s and %s", policy, page.Raw)
	}
	if sheet := s.Get("/brand/0a7d55"); sheet.Raw != ":root{--brand:#0a7d55;--brand-ink:#ffffff}\n" {
		t.Errorf("the color is %q", sheet.Raw)
	}
	s.Get("/brand/red").Shows(404, "Page not found")
	s.Post(path+"/branding", typed...).
		Shows(422, "web").
		Says("#brand-logo-error", "https").
		Holds("color", "#0a7d55")
	typed[7] = "https://cdn.example/logo.png"
	s.Post(path+"/branding", typed...).LeadsTo(path)
	saved := s.Get(path).Holds("title", "Acme <b>").Says("#branding figure", "Sign in to Acme <b>")
	if !strings.Contains(saved.Header.Get("Content-Security-Policy"), "https://cdn.example") ||
		saved.Find("#branding img").Length() != 2 {
		t.Error("the saved logo is not shown")
	}
}

func TestProvider_page(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, tab := newLoginTab(t, db)
	path := s.CreateAppClient(tab)
	if n := s.Get(path).Find("#providers li").Length(); n != 6 {
		t.Errorf("%d rows of providers, want one for each kind", n)
	}
	s.Get(path+"/providers?type=auth0").Shows(200, "Set up Auth0").Says("label[for=provider-issuer]", "Domain")
	s.Post(path+"/providers", "type", "auth0").
		Shows(422, "Set up Auth0").
		Says("#provider-issuer-error", "requires an issuer")
	google := s.Post(path+"/providers", "type", "google").Location()
	id := google[strings.LastIndex(google, "/")+1:]
	s.Get(google).Shows(200, "Google").Says("#provider-callback", "/callback/"+id)
	s.Post(google+"/switch", "enabled", "true").Shows(422, "web").Says("#providers", "Enter the client ID")
	form := []string{
		"client_id",
		"app-1",
		"client_secret",
		"canary-secret",
		"scopes",
		"openid email",
		"client_token",
		"service",
		"upstream_token",
		"none",
		"enabled",
		"true",
	}
	s.Post(google, form...).Shows(422, "Google").Says("main", "doesn't verify tokens")
	s.Post(google, append(form, "label", strings.Repeat("x", 61))...).
		Shows(422, "Google").
		Says("#provider-label-error", "at most 60 characters")
	access := s.Get("/projects/shop/versions/1.0.0/access").Action("mode")
	s.Post(access, "mode", "authenticate", "methods", "jwt", "keyless", "reject").LeadsTo(access)
	s.Post(google, form...).LeadsTo(path + "#providers")
	s.Post(access, "mode", "authenticate", "methods", "api_key", "keyless", "reject").
		Shows(422, "Access to version 1.0.0").
		Says("main", "doesn't verify tokens")
	s.Get(path).
		Says("#providers li", "Client ID app-1").
		Says("#branding figure", "Continue with Google").
		Lacks("#test-problem")
	before := s.Get(google)
	if strings.Contains(before.Raw, "canary-secret") {
		t.Error("the secret is shown again")
	}
	kept := secretOf(t, s, db, id)
	s.Post(google+"/switch", "enabled", "false").LeadsTo(path + "#providers")
	s.Post(google,
		"revision", "1", "client_id", "app-2", "client_secret", "canary-secret",
		"client_token", "service", "upstream_token", "service",
	).Shows(412, "Changed since you opened this page").
		Says("main", "paste it again").
		Lacks("input[value='canary-secret']")
	s.Post(google+"/switch", "enabled", "true").LeadsTo(path + "#providers")
	if kept != "canary-secret" || secretOf(t, s, db, id) != kept {
		t.Errorf("the secret was %q and is %q", kept, secretOf(t, s, db, id))
	}
	s.Post(google+"/delete", "confirm", "true").LeadsTo(path + "#providers")
	s.Get(path).Says("#test-problem", "No provider is turned on")
}

func TestProvider_formPost(t *testing.T) {
	t.Parallel()
	s, tab := newLoginTab(t, state.OpenSQLite(t))
	path := s.CreateAppClient(tab)
	at := s.Post(path+"/providers", "type", "oidc", "issuer", "https://8.8.8.8").Location()
	form := []string{"client_id", "app", "client_token", "service", "upstream_token", "service"}
	for _, tt := range []struct{ posted, want string }{
		{"", "query"}, {"form_post", "form_post"}, {"", "form_post"}, {"query", "query"},
	} {
		sent := form
		if tt.posted != "" {
			sent = append(slices.Clone(form), "response_mode", tt.posted)
		}
		s.Post(at, sent...).LeadsTo(path + "#providers")
		if got := s.Get(at).Value("input[name=response_mode][checked]"); got != tt.want {
			t.Errorf("after %q, the page shows %q, want %q", tt.posted, got, tt.want)
		}
	}
	s.Post(at, append(slices.Clone(form), "response_mode", "fragment")...).
		Shows(422, "8.8.8.8").
		Says("main", "Use query or form_post")
	google := s.Post(path+"/providers", "type", "google").Location()
	s.Get(google).Shows(200, "Google").Lacks("input[name=response_mode]")
}

func secretOf(t *testing.T, s *controlplane.Browser, db *models.DB, provider string) secrets.Secret {
	t.Helper()
	row, err := db.Read(t.Context()).ProviderByID(provider)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := s.Server.Login.Vault.Open(db.Read(t.Context()), secrets.Place{
		Table:  "providers",
		Row:    provider,
		Column: "client_secret",
	}, row.ClientSecret)
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

func TestProvider_managedGitHub(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, tab := newLoginTab(t, db)
	path := s.CreateAppClient(tab)
	s.Get(path+"/providers?type=github").Shows(200, "Set up GitHub").Lacks("[name=managed]")
	s.Server.AppClients.Shared.ClientID = "shared"
	s.Get(path+"/providers?type=github").Says("fieldset", "The installation's")
	s.Post(path+"/providers", "type", "github", "managed", "true").LeadsTo(path + "#providers")
	s.Get(path).Says("#providers li", "The installation's shared app").Says("#providers li", "on")
}

func TestAppClient_secret(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, tab := newLoginTab(t, db)
	path := s.CreateAppClient(tab)
	read := func(page *controlplane.Page) string {
		return controlplane.Clean(page.Shows(200, "Client secret for web").Find("#new-secret").Text())
	}
	change := func(form ...string) *controlplane.Page {
		return s.Post(path+"/secret", append(form, ui.NonceField, s.Get(path).Nonce(path+"/secret"))...)
	}
	first := read(s.FollowRedirect(change("kind", "confidential")))
	change("kind", "confidential").Shows(422, "web").Says("#secret", "Check the box")
	second := read(s.FollowRedirect(change("kind", "confidential", "confirm", "true")))
	if first == second || len(second) < 40 || strings.Contains(s.Get(path).Raw, second) {
		t.Errorf("secrets %q and %q", first, second)
	}
	pkce := func() string {
		return s.Get(path).Find("#settings [name=pkce][checked]").AttrOr("value", "")
	}
	settings := []string{"name", "web", "access_minutes", "5", "refresh_days", "1", "algorithm", "RS256"}
	if got := pkce(); got != "required" {
		t.Errorf("PKCE of a new confidential client is %q", got)
	}
	s.Post(path, append(settings, "pkce", "when_sent")...).LeadsTo(path)
	if got := pkce(); got != "when_sent" {
		t.Errorf("PKCE is %q after it was changed", got)
	}
	change("kind", "public", "confirm", "true").LeadsTo(path)
	s.Get(path).Says("#secret", "This app client is public").Lacks("[name=pkce]")
	s.Post(path, append(settings, "pkce", "when_sent")...).
		Shows(422, "web").
		Says("#settings", "confidential app client")
}

// An app client's page is below each project that serves its tenant, and no other.
func TestAppClient_otherProject(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, tab := newLoginTab(t, db)
	path := s.CreateAppClient(tab)
	tenant := s.Get(tab).Find("select[name=tenant] option").AttrOr("value", "")
	s.Submit("/projects/new", "target", "http://127.0.0.1:9", "name", "books", "require_keys", "true").
		Shows(200, "books is ready")
	s.Get(strings.Replace(path, "/shop/", "/books/", 1)).Shows(404, "Page not found")
	s.Post("/projects/books/login", "tenant", tenant, "name", "other").Shows(404, "Page not found")
	s.Get(path).Find("form").Each(func(_ int, form *goquery.Selection) {
		if action := form.AttrOr("action", ""); strings.Contains(action, "books") {
			t.Errorf("a form of the other project: %s", action)
		}
	})
}
