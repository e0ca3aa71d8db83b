package oidc_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/testkit"
	"postern/testkit/state"
)

// TestLogin_twoTabs checks that sign-ins that one browser begins at the same time, before either has a cookie, all
// work.
func TestLogin_twoTabs(t *testing.T) {
	t.Parallel()
	b := newPKCELogin(t, contract.AppClientSettings{})
	first, second := b.request("openid"), b.request("openid")
	browser := b.browser()
	// The second tab begins before it has the cookie of the first: the jar gets both answers afterward.
	other := b.browser()
	a, z := b.toProvider(browser, first, b.provider.ID), b.toProvider(other, second, b.provider.ID)
	at := &url.URL{Scheme: "http", Host: strings.TrimPrefix(b.url, "http://"), Path: "/"}
	browser.Jar.SetCookies(at, other.Jar.Cookies(at))
	for _, tab := range []struct {
		request request
		to      *url.URL
	}{{first, a}, {second, z}} {
		back := b.agree(browser, b.fake.Authorize(t, tab.to.String()).String())
		if got := b.exchange(tab.request, back); got.status != http.StatusOK {
			t.Errorf("a tab gets %+v", got)
		}
	}
}

func TestLogin_eightAttempts(t *testing.T) {
	t.Parallel()
	b := newPKCELogin(t, contract.AppClientSettings{})
	browser := b.browser()
	var tabs []*url.URL
	for range 9 {
		tabs = append(tabs, b.fake.Authorize(t, b.toProvider(browser, b.request("openid"), b.provider.ID).String()))
	}
	cookies := 0
	for _, cookie := range browser.Jar.Cookies(tabs[0]) {
		if strings.Contains(cookie.Name, "-login-") {
			cookies++
		}
	}
	if cookies != 8 {
		t.Errorf("the browser keeps %d cookies of sign-ins, want 8", cookies)
	}
	b.refused("the oldest of nine", b.get(browser, tabs[0].String()), http.StatusForbidden)
	for _, tab := range tabs[1:] {
		b.agree(browser, tab.String())
	}
}

// TestLogin_backAfterSignIn opens the pages of a finished sign-in again, as Back and a reload do.
func TestLogin_backAfterSignIn(t *testing.T) {
	t.Parallel()
	b := newBoundLogin(t, state.OpenSQLite(t))
	browser, r := b.browser(), b.request("openid")
	r.query.Set("prompt", "select_account")
	choice := b.path("/authorize?" + r.query.Encode())
	link := b.get(browser, choice).Find("a[href$='/"+b.provider.ID+"']").AttrOr("href", "")
	callbackURL := b.fake.Authorize(t, b.get(browser, link).to.String()).String()
	consent := b.get(browser, callbackURL)
	b.exchange(r, b.post(browser, b.path("/consent"), formOf(consent, "agree")).to)
	for name, open := range testkit.ByName(map[string]func(*http.Client) step{
		"the callback":          func(c *http.Client) step { return b.get(c, callbackURL) },
		"the provider's button": func(c *http.Client) step { return b.get(c, link) },
		"the consent page again": func(c *http.Client) step {
			return b.post(c, b.path("/consent"), formOf(consent, "agree"))
		},
	}) {
		b.refused(name+" in another browser", open(b.browser()), http.StatusForbidden)
		got := open(browser)
		if got.to == nil || !strings.HasPrefix(got.to.String(), callback+"?") {
			t.Errorf("%s: %d %v, want the application", name, got.status, got.to)
			continue
		}
		if got.to.Query().Get("state") != "the state" || b.exchange(r, got.to).status != http.StatusOK {
			t.Errorf("%s: no code for the application: %s", name, got.to)
		}
	}
	// Without the session of the sign-in, the application learns that it has to begin again.
	b.endSessions()
	if got := b.get(browser, callbackURL); got.to == nil || got.to.Query().Get("error") != "login_required" {
		t.Errorf("after the session: %d %v", got.status, got.to)
	}
}

// TestLogin_backAfterDeclining checks that a user who declined is not signed in by Back.
func TestLogin_backAfterDeclining(t *testing.T) {
	t.Parallel()
	b := newBoundLogin(t, state.OpenSQLite(t))
	browser := b.browser()
	signIn := b.fake.Authorize(t, b.toProvider(browser, b.request("openid"), b.provider.ID).String()).String()
	b.agree(browser, signIn)
	r := b.request("openid")
	r.query.Set("prompt", "consent")
	again := b.fake.Authorize(t, b.toProvider(browser, r, b.provider.ID).String()).String()
	b.post(browser, b.path("/consent"), formOf(b.get(browser, again), "decline"))
	if got := b.get(browser, again); got.to == nil || got.to.Query().Has("code") {
		t.Errorf("after declining: %d %v", got.status, got.to)
	}
}

func (s *app) endSessions() {
	s.t.Helper()
	if _, err := s.db.SQL().ExecContext(
		s.t.Context(), "UPDATE login_sessions SET ended_at = created_at",
	); err != nil {
		s.t.Fatal(err)
	}
}
