package oidc_test

import (
	"net/url"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/testkit/state"
)

func TestAccount_language(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newLoginApp(t, db, contract.AppClientSettings{})
	fake, provider := s.offerFake()
	browser := s.browser()
	german := s.path("/account") + "?ui_locales=de"
	if page := s.get(browser, german); !strings.Contains(page.Find("main").Text(), "um Ihre Sitzungen") {
		t.Errorf("without a session: %s", page.Find("main").Text())
	}
	s.enter(browser, fake, provider.ID, "openid email")
	page := s.get(browser, german)
	if lang := page.Find("html").AttrOr("lang", ""); lang != "de" {
		t.Errorf("the page is in %q, want de", lang)
	}
	shown := page.Find("main").Text()
	for _, want := range []string{"Überall abmelden", "Ihre E-Mail-Adresse", "Mein Konto löschen"} {
		if !strings.Contains(shown, want) {
			t.Errorf("the page lacks %q: %s", want, shown)
		}
	}
	if page.Find("form[action$='/account/delete?ui_locales=de']").Length() != 1 {
		t.Error("the form of the deletion forgets the language")
	}
	if page := s.get(browser, s.path("/account")); !strings.Contains(page.Find("main").Text(),
		"see your email address") {
		t.Errorf("in English: %s", page.Find("main").Text())
	}
	refused := s.post(browser, s.path("/account/delete")+"?ui_locales=de", url.Values{})
	if text := refused.Find("[role=alert]").Text(); !strings.Contains(text, "Setzen Sie das Häkchen") {
		t.Errorf("without the box ticked: %q", text)
	}
}
