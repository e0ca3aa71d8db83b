package oidc_test

import (
	"net/http"
	"testing"

	"postern/core/contract"
	"postern/testkit"
	"postern/testkit/state"
)

// A team's changes apply to sign-ins in progress: at consent, and at the token endpoint.
func TestLogin_concurrentChanges(t *testing.T) {
	t.Parallel()
	s := newLoginApp(t, state.OpenSQLite(t), contract.AppClientSettings{})
	fake, provider := s.offerFake()
	turn := func(on bool) {
		t.Helper()
		in := contract.ProviderSettings{Enabled: &on}
		if _, err := s.server.AppClients.UpdateProvider(t.Context(), s.owner, in.Of(provider.ID)); err != nil {
			t.Fatal(err)
		}
	}
	redirectTo := func(uri string) {
		t.Helper()
		in := contract.AppClientSettings{RedirectURIs: &[]string{uri}}
		if _, err := s.server.AppClients.UpdateClient(t.Context(), s.owner, in.Of(s.client.ID)); err != nil {
			t.Fatal(err)
		}
	}
	changes := map[string]struct{ change, undo func() }{
		"a provider that is turned off": {func() { turn(false) }, func() { turn(true) }},
		"a redirect URI that is removed": {
			func() { redirectTo("https://app.example.com/other") }, func() { redirectTo(callback) },
		},
	}
	for name, one := range testkit.ByName(changes) {
		browser, r := s.browser(), s.request("openid")
		at := fake.Authorize(t, s.toProvider(browser, r, provider.ID).String()).String()
		page := s.get(browser, at)
		agreed := formOf(page, "agree")
		one.change()
		for _, form := range []string{"agree", "decline"} {
			agreed.Set("answer", form)
			if name == "a provider that is turned off" && form == "decline" {
				continue // which may go back to the application
			}
			if got := s.post(browser, s.path("/consent"), agreed); got.to != nil || got.status < 400 {
				t.Errorf("%s: the consent %q leads to %d %v", name, form, got.status, got.to)
			}
		}
		one.undo()

		browser, r = s.browser(), s.request("openid")
		back := s.agree(browser, fake.Authorize(t, s.toProvider(browser, r, provider.ID).String()).String())
		one.change()
		if got := s.exchange(r, back); got.status != http.StatusBadRequest || got.Error != "invalid_grant" {
			t.Errorf("%s: the code is answered %+v", name, got)
		}
		one.undo()
		s.unconsented()
	}
}

// unconsented withdraws all consents, so that the next sign-in asks.
func (s *app) unconsented() {
	s.t.Helper()
	if _, err := s.db.SQL().ExecContext(s.t.Context(), "DELETE FROM login_consents"); err != nil {
		s.t.Fatal(err)
	}
}
