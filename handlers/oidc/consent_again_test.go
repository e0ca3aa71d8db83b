package oidc_test

import (
	"net/http"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/platform/secrets"
	"postern/testkit"
	"postern/testkit/state"
)

// consenting returns a browser that is asked for consent, the address of the page, and the page.
func (b boundLogin) consenting(r request) (*http.Client, string, step) {
	b.t.Helper()
	browser := b.browser()
	back := b.fake.Authorize(b.t, b.toProvider(browser, r, b.provider.ID).String()).String()
	page := b.get(browser, back)
	b.asksConsent("the callback", page)
	return browser, back, page
}

func (b boundLogin) asksConsent(what string, page step) {
	b.t.Helper()
	if page.status != http.StatusOK || page.Find("input[name=ticket]").Length() != 1 {
		b.t.Fatalf("%s: %d %v %s, want the consent page", what, page.status, page.to, page.Find("main").Text())
	}
}

// leadsToCode asserts that a form of the consent page ends the sign-in.
func (b boundLogin) leadsToCode(what string, browser *http.Client, r request, page step) {
	b.t.Helper()
	got := b.post(browser, b.path("/consent"), formOf(page, "agree"))
	if got.to == nil || b.exchange(r, got.to).status != http.StatusOK {
		b.t.Errorf("%s: %d %v, want a code", what, got.status, got.to)
	}
}

// storedTicket returns what is stored while the user is asked for consent, "" for nothing.
func (b boundLogin) storedTicket(attempt string) string {
	b.t.Helper()
	tx := b.db.Read(b.t.Context())
	row, err := tx.LoginAttemptByID(attempt, models.Now())
	if err != nil || row.Ticket == nil {
		return ""
	}
	plain, err := b.server.Login.Vault.Open(tx, secrets.Place{
		Table: "login_attempts", Row: attempt, Column: "ticket", Purpose: secrets.ForControl,
	}, row.Ticket)
	if err != nil {
		b.t.Fatal(err)
	}
	return plain.Reveal()
}

// TestConsent_reload opens the callback again while the user is asked for consent, as a reload and Back do.
func TestConsent_reload(t *testing.T) {
	t.Parallel()
	b := newBoundLogin(t, state.OpenSQLite(t))
	r := b.request("openid profile")
	browser, back, first := b.consenting(r)
	b.refused("a reload in another browser", b.get(b.browser(), back), http.StatusForbidden)
	again := b.get(browser, back)
	b.asksConsent("a reload", again)
	if first.Find("main").Text() != again.Find("main").Text() {
		t.Errorf("the page changes from %s to %s", first.Find("main").Text(), again.Find("main").Text())
	}
	attempt := formOf(again, "").Get("attempt")
	if b.storedTicket(attempt) == "" {
		t.Error("no ticket is stored, or it was not read")
	}
	b.leadsToCode("the reloaded page", browser, r, again)
	if b.storedTicket(attempt) != "" {
		t.Error("the ticket is stored after the sign-in")
	}
}

// TestConsent_otherAccount goes back to the provider, and signs in there as someone else.
func TestConsent_otherAccount(t *testing.T) {
	t.Parallel()
	b := newBoundLogin(t, state.OpenSQLite(t))
	r := b.request("openid email")
	r.query.Set("prompt", "select_account") // which shows the providers
	browser := b.browser()
	choice := b.get(browser, b.path("/authorize?"+r.query.Encode()))
	link := choice.Find("a[href$='/"+b.provider.ID+"']").AttrOr("href", "")
	atProvider := b.get(browser, link).to.String()
	b.asksConsent("the first account", b.get(browser, b.fake.Authorize(t, atProvider).String()))
	for name, to := range testkit.ByName(map[string]func() string{
		"Back to the provider": func() string { return atProvider },
		"its button again": func() string {
			pressed := b.get(browser, link)
			if pressed.to == nil {
				t.Fatalf("the button leads to %d %s", pressed.status, pressed.Find("main").Text())
			}
			return pressed.to.String()
		},
	}) {
		b.fake.Claims = func(claims map[string]any) { claims["sub"], claims["email"] = name, "other@example.com" }
		page := b.get(browser, b.fake.Authorize(t, to()).String())
		b.asksConsent(name, page)
		if text := page.Find("main").Text(); !strings.Contains(text, "other@example.com") {
			t.Errorf("%s: the page has another user: %s", name, text)
		}
		if name == "its button again" {
			b.refused("the button in another browser", b.get(b.browser(), link), http.StatusForbidden)
		}
	}
}

// TestConsent_reloadWithProviderTokens asks the provider again, because nothing keeps its tokens.
func TestConsent_reloadWithProviderTokens(t *testing.T) {
	t.Parallel()
	b := boundLogin{app: newLoginApp(t, state.OpenSQLite(t), contract.AppClientSettings{})}
	b.fake, b.provider = b.offerFake(contract.NewTokenType{Client: "service", Upstream: "provider_access_token"})
	r := b.request("openid")
	browser, back, page := b.consenting(r)
	stored := b.storedTicket(formOf(page, "").Get("attempt"))
	if stored == "" || strings.Contains(stored, b.fake.Access) {
		t.Errorf("stored: %s", stored)
	}
	again := b.get(browser, back)
	if again.to == nil || !strings.HasPrefix(again.to.String(), b.fake.Issuer) {
		t.Fatalf("a reload leads to %d %v, want the provider", again.status, again.to)
	}
	page = b.get(browser, b.fake.Authorize(t, again.to.String()).String())
	b.asksConsent("the provider's second answer", page)
	b.leadsToCode("the second page", browser, r, page)
}

// TestConsent_reloadAfterFreeze checks that the page is not shown again to a user who may not sign in any more.
func TestConsent_reloadAfterFreeze(t *testing.T) {
	t.Parallel()
	b := newBoundLogin(t, state.OpenSQLite(t))
	known := b.browser()
	b.agree(known, b.fake.Authorize(t, b.toProvider(known, b.request("openid"), b.provider.ID).String()).String())
	browser, back, _ := b.consenting(b.request("openid email"))
	if _, err := b.db.SQL().ExecContext(t.Context(), "UPDATE end_users SET state = 'frozen'"); err != nil {
		t.Fatal(err)
	}
	b.refused("a frozen user", b.get(browser, back), http.StatusForbidden)
}
