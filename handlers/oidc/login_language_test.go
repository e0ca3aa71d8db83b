package oidc_test

import (
	"net/http"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/testkit/state"
)

// getIn gets a page with an Accept-Language.
func (s *app) getIn(browser *http.Client, address, accepted string) step {
	s.t.Helper()
	if strings.HasPrefix(address, "/") {
		address = s.url + address
	}
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, address, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Accept-Language", accepted)
	return s.do(browser, r)
}

// The pages of a login have the language of its request: ui_locales, kept through the
// provider, or else Accept-Language.
func TestLogin_languages(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	title := "Books"
	s := newLoginApp(t, db, contract.AppClientSettings{Branding: contract.BrandingChange{Title: &title}})
	fake, provider := s.offerFake()
	shows := func(what string, page step, lang, heading string) {
		t.Helper()
		if got := page.Find("html").AttrOr("lang", ""); got != lang {
			t.Errorf("%s: lang %q, want %q", what, got, lang)
		}
		if got := page.Find("h1").Text(); got != heading {
			t.Errorf("%s: heading %q, want %q", what, got, heading)
		}
	}
	r := s.request("openid email")
	r.query.Set("prompt", "select_account")
	authorize := s.path("/authorize?") + r.query.Encode()
	shows("Accept-Language", s.getIn(s.browser(), authorize, "de-AT,en;q=0.5"), "de", "Bei Books anmelden")
	shows("another language", s.getIn(s.browser(), authorize, "fr"), "en", "Sign in to Books")

	browser := s.browser()
	chosen := s.getIn(browser, authorize+"&ui_locales=de", "en")
	shows("ui_locales", chosen, "de", "Bei Books anmelden")
	to := s.get(browser, chosen.Find("a[href$='/"+provider.ID+"']").AttrOr("href", "")).to
	refused := s.path("/callback/" + provider.ID + "?error=access_denied&state=" + to.Query().Get("state"))
	failed := s.getIn(browser, refused, "en")
	shows("a refusal", failed, "de", "Bei Books anmelden")
	want := "Sie haben die Anmeldung mit " + strings.TrimPrefix(fake.Issuer, "http://") + " nicht abgeschlossen."
	if text := failed.Find("[role=alert]").Text(); !strings.Contains(text, want) {
		t.Errorf("a refusal: the page says %q", text)
	}
	consent := s.getIn(browser, fake.Authorize(t, to.String()).String(), "en")
	shows("consent", consent, "de", "Weiter zu Books?")
	if text := consent.Find("main li").Text(); !strings.Contains(text, "Ihre E-Mail-Adresse") {
		t.Errorf("consent: the page lists %q", text)
	}
	shows("logout", s.getIn(s.browser(), s.path("/logout"), "de"), "de", "Sie sind abgemeldet")
	other := s.getIn(s.browser(), s.path("/callback/"+provider.ID+"?state=x&code=y"), "de")
	shows("another browser", other, "de", "Anmeldung fehlgeschlagen")
	if text := other.Find("main").Text(); !strings.Contains(text, "nicht in diesem Browser gestartet") {
		t.Errorf("another browser: the page says %q", text)
	}
	r.query.Set("client_id", "cli_other")
	wrong := s.getIn(s.browser(), s.path("/authorize?")+r.query.Encode(), "de")
	if text := wrong.Find("main").Text(); !strings.Contains(text, "die Client-ID einer anderen Anwendung verwendet") {
		t.Errorf("another client's id: the page says %q", text)
	}
}
