package oidc_test

import (
	"net/http"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/testkit/idp"
	"postern/testkit/state"
)

// A login with one provider goes straight on to it. The page is shown where there is
// something to choose or to read.
func TestAuthorize_oneProvider(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newLoginApp(t, db, contract.AppClientSettings{})
	fake, provider := s.offerFake()
	start := func(prompt string) step {
		r := s.request("openid")
		r.query.Set("prompt", prompt)
		return s.get(s.browser(), s.path("/authorize?"+r.query.Encode()))
	}
	if page := start(""); page.to == nil || !strings.HasPrefix(page.to.String(), fake.Issuer) {
		t.Errorf("one provider: %d to %v, want a redirect to it", page.status, page.to)
	}
	chosen := start("select_account")
	if n := chosen.Find("a[data-provider]").Length(); chosen.status != http.StatusOK || n != 1 {
		t.Errorf("select_account: %d with %d providers, want the page", chosen.status, n)
	}
	name, secret := idp.ClientID, contract.Secret(idp.ClientSecret)
	other := s.offer(contract.NewProvider{
		Type:             "github",
		ProviderSettings: contract.ProviderSettings{ClientID: &name, ClientSecret: &secret},
	})
	if n := start("").Find("a[data-provider]").Length(); n != 2 {
		t.Errorf("two providers: the page offers %d", n)
	}
	off := false
	_, err := s.server.AppClients.UpdateProvider(
		t.Context(), s.owner, contract.ProviderSettings{Enabled: &off}.Of(other.ID),
	)
	if err != nil {
		t.Fatal(err)
	}
	if page := start(""); page.to == nil || !strings.HasPrefix(page.to.String(), fake.Issuer) {
		t.Errorf("one enabled provider: %d to %v, want a redirect to it", page.status, page.to)
	}
	s.checkRefusalShowsPage(provider)
}

// checkRefusalShowsPage checks that a provider that refuses does not get the browser again at
// once, in this login.
func (s *app) checkRefusalShowsPage(provider contract.Provider) {
	s.t.Helper()
	browser := s.browser()
	to := s.toProvider(browser, s.request("openid"), provider.ID)
	back := s.path("/callback/" + provider.ID + "?error=access_denied&state=" + to.Query().Get("state"))
	page := s.get(browser, back)
	if n := page.Find("a[data-provider]").Length(); page.status != http.StatusForbidden || n != 1 {
		s.t.Errorf("after a refusal: %d with %d providers, want 403 and the page", page.status, n)
	}
	if page.Find("[role=alert]").Length() == 0 {
		s.t.Errorf("after a refusal, the page does not say what failed: %s", page.Find("main").Text())
	}
}

// A provider that cannot be reached leaves the browser on a page that says so, in which it
// can try again.
func TestAuthorize_oneUnavailableProvider(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newLoginApp(t, db, contract.AppClientSettings{})
	name, secret := idp.ClientID, contract.Secret(idp.ClientSecret)
	s.offer(contract.NewProvider{
		Type:             "oidc",
		Issuer:           "http://127.0.0.1:9",
		ProviderSettings: contract.ProviderSettings{ClientID: &name, ClientSecret: &secret},
	})
	browser := s.browser()
	page := s.get(browser, s.path("/authorize?"+s.request("openid").query.Encode()))
	link, ok := page.Find("a[data-provider]").Attr("href")
	if page.status < 500 || !ok {
		t.Fatalf("%d %s, want an error with the provider", page.status, page.Find("main").Text())
	}
	if again := s.get(browser, link); again.status != page.status {
		t.Errorf("trying again: %d, want %d: the browser has its cookie", again.status, page.status)
	}
}

// The page is titled with the branding's title, and else with the project's name.
func TestAuthorize_title(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newLoginApp(t, db, contract.AppClientSettings{})
	s.offerFake()
	heading := func() string {
		r := s.request("openid")
		r.query.Set("prompt", "select_account")
		return s.get(s.browser(), s.path("/authorize?"+r.query.Encode())).Find("h1").Text()
	}
	tenant, err := db.Read(t.Context()).TenantByID(s.tenant)
	if err != nil {
		t.Fatal(err)
	}
	project, err := db.Read(t.Context()).ProjectByID(*tenant.ProjectID)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := heading(), "Sign in to "+project.Name; got != want {
		t.Errorf("without any title: %q, want %q", got, want)
	}
	shown := "Ana’s Books"
	change := contract.ProjectChange{DisplayName: &shown}
	if _, err := s.server.Projects.Update(t.Context(), s.owner, change.Of(project.ID)); err != nil {
		t.Fatal(err)
	}
	if got := heading(); got != "Sign in to Ana’s Books" {
		t.Errorf("with a display name: %q", got)
	}
	title := "Books for You"
	branded := contract.AppClientSettings{Branding: contract.BrandingChange{Title: &title}}
	if _, err := s.server.AppClients.UpdateClient(t.Context(), s.owner, branded.Of(s.client.ID)); err != nil {
		t.Fatal(err)
	}
	if got := heading(); got != "Sign in to Books for You" {
		t.Errorf("with a title: %q", got)
	}
}
