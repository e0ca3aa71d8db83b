package oidc_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"postern/core/contract"
	"postern/models"
	"postern/testkit/idp"
	"postern/testkit/state"
)

// requestedScopes returns what a consent page says is shared, with a star at what is new, or "none"
// for any other page.
func (s *app) requestedScopes(page step) string {
	s.t.Helper()
	if page.to != nil {
		return "none"
	}
	if page.status != http.StatusOK || page.Find("input[name=ticket]").Length() != 1 {
		s.t.Fatalf("neither a question nor the way back: %d %s", page.status, page.Find("main").Text())
	}
	var list []string
	page.Find("main li").Each(func(_ int, li *goquery.Selection) {
		text := strings.TrimSpace(li.Clone().Children().Remove().End().Text())
		if li.Find(".badge").Length() > 0 {
			text += "*"
		}
		list = append(list, text)
	})
	return strings.Join(list, ", ")
}

func TestConsent_coverage(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newLoginApp(t, db, contract.AppClientSettings{})
	fake, provider := s.offerFake()
	const first = "see your user ID, see your name and profile details, such as your picture and language"
	for i, tt := range []struct{ scope, prompt, answer, want string }{
		{"openid profile", "", "decline", first},
		{"openid profile", "", "agree", first}, // a refusal is not remembered
		{"openid profile", "", "", "none"},
		{"openid", "", "", "none"},
		{"openid email", "", "decline", "see your user ID, see your email address*"},
		{
			"openid email groups", "", "agree",
			"see your user ID, see your email address*, see which groups you're in*",
		},
		{"openid profile email groups", "", "", "none"},
		{"openid profile", "consent", "agree", first},
		{"openid profile", "login", "", "none"},
	} {
		browser, r := s.browser(), s.request(tt.scope)
		r.query.Set("prompt", tt.prompt)
		page := s.get(browser, fake.Authorize(t, s.toProvider(browser, r, provider.ID).String()).String())
		if got := s.requestedScopes(page); got != tt.want {
			t.Fatalf("%d: asked for %s, want %s", i, got, tt.want)
		}
		if tt.answer != "" {
			page = s.post(browser, s.path("/consent"), formOf(page, tt.answer))
		}
		if q := page.to.Query(); (tt.answer == "decline") != (q.Get("error") == "access_denied") ||
			(tt.answer == "decline") == q.Has("code") {
			t.Errorf("%d: back with %s", i, page.to)
		}
	}
}

// Consent to one application does not count for another one.
func TestConsent_perApplication(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newLoginApp(t, db, contract.AppClientSettings{})
	fake, provider := s.offerFake()
	browser := s.browser()
	s.agree(browser, fake.Authorize(t, s.toProvider(browser, s.request("openid"), provider.ID).String()).String())
	uris := []string{callback}
	other, err := s.server.AppClients.CreateClient(t.Context(), s.owner, contract.NewAppClient{
		Name: "mobile", AppClientSettings: contract.AppClientSettings{RedirectURIs: &uris},
	}.In(s.tenant))
	if err != nil {
		t.Fatal(err)
	}
	s.client = other
	id, secret := idp.ClientID, contract.Secret(idp.ClientSecret)
	second := s.offer(contract.NewProvider{
		Type:             "oidc",
		Issuer:           provider.Issuer,
		ProviderSettings: contract.ProviderSettings{ClientID: &id, ClientSecret: &secret},
	})
	page := s.get(
		browser,
		fake.Authorize(t, s.toProvider(browser, s.request("openid"), second.ID).String()).String(),
	)
	if got := s.requestedScopes(page); got != "see your user ID" {
		t.Errorf("asked for %s", got)
	}
	users, err := db.Read(t.Context()).EndUsersOf(s.tenant, models.UserFilter{}, models.Page{})
	if err != nil || len(users.Items) != 1 {
		t.Errorf("they are %d people, %v", len(users.Items), err)
	}
}

// A provider where the browser is signed in continues without asking, unless it is told to ask.
func TestAuthorize_promptAtProvider(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newLoginApp(t, db, contract.AppClientSettings{})
	_, provider := s.offerFake()
	for _, tt := range []struct{ prompt, age, want, wantAge string }{
		{"", "", "", ""},
		{"consent", "", "", ""}, // ours to ask for
		{"login", "", "login", "0"},
		{"select_account login", "", "login select_account", "0"},
		{"", "0", "login", "0"},
		{"consent", "3600", "", "3600"},
		{"login", "60", "login", "0"},
	} {
		browser, r := s.browser(), s.request("openid")
		r.query.Set("prompt", tt.prompt)
		if tt.age != "" {
			r.query.Set("max_age", tt.age)
		}
		if q := s.toProvider(browser, r, provider.ID).Query(); q.Get("prompt") != tt.want ||
			q.Has("prompt") != (tt.want != "") || q.Get("max_age") != tt.wantAge {
			t.Errorf("prompt %q and max_age %q: the provider is asked %v, want %q", tt.prompt, tt.age, q, tt.want)
		}
	}
}
