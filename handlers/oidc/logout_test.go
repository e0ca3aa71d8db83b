package oidc_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/service/login"
	"postern/testkit"
	"postern/testkit/idp"
	"postern/testkit/state"
)

// signOut sends a sign-out request with this browser.
func (s *app) signOut(browser *http.Client, query url.Values) step {
	s.t.Helper()
	return s.get(browser, s.path("/logout?"+query.Encode()))
}

// press sends the form of the page that asks whether to sign out, with the first button or that for the provider.
func (s *app) press(browser *http.Client, page step, answer string) step {
	s.t.Helper()
	action, ok := page.Find("form").Attr("action")
	if !ok || page.Find("button[value="+answer+"]").Length() != 1 {
		s.t.Fatalf("the page does not ask: %d %s", page.status, page.Find("main").Text())
	}
	return s.post(browser, action, formOf(page, answer))
}

// isLive reports whether the browser still has a session, and fails the test if that session's tokens say otherwise.
func (s *app) isLive(browser *http.Client, tokens got) bool {
	s.t.Helper()
	live := s.silently(browser, s.request("openid"), nil).Get("error") == ""
	refreshed := s.refresh(tokens.Refresh).Error
	if live == (refreshed != "") || live == strings.Contains(strings.Join(s.barred(), " "), sid(s.t, tokens.ID)) {
		s.t.Errorf("the session is live: %v; a refresh gives %q; gateways refuse %v", live, refreshed, s.barred())
	}
	return live
}

const backWithState = callback + "?state=of+the+client"

// goingBack are the parameters of a request that names the client and where to return to.
func (s *app) goingBack() url.Values {
	return url.Values{"client_id": {s.client.ID}, "post_logout_redirect_uri": {callback}, "state": {"of the client"}}
}

func TestLogout_withoutHint(t *testing.T) {
	t.Parallel()
	for name, c := range testkit.ByName(map[string]struct {
		change func(url.Values)
		back   string // after the button, "" for a page
		shows  string // on that page
	}{
		"no parameters": {func(q url.Values) { clear(q) }, "", "You're signed out"},
		"only state": {func(q url.Values) { q.Del("client_id"); q.Del("post_logout_redirect_uri") }, "",
			"You're signed out"},
		"all":       {func(url.Values) {}, backWithState, ""},
		"no state":  {func(q url.Values) { q.Del("state") }, callback, ""},
		"no client": {func(q url.Values) { q.Del("client_id") }, "", "You're signed out"},
		"another address": {func(q url.Values) { q.Set("post_logout_redirect_uri", callback+"/x") }, "",
			"You're signed out"},
		"query added": {func(q url.Values) { q.Set("post_logout_redirect_uri", callback+"?a=b") }, "",
			"You're signed out"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newLoginApp(t, state.OpenSQLite(t), contract.AppClientSettings{})
			fake, provider := s.offerFake()
			browser, query := s.browser(), s.goingBack()
			c.change(query)
			tokens := s.enter(browser, fake, provider.ID, "openid email offline_access")
			page := s.signOut(browser, query)
			if page.status != http.StatusOK || !strings.Contains(page.Find("main").Text(), "as ana@example.com") {
				t.Errorf("it asks %d %s", page.status, page.Find("main").Text())
			}
			if page.Find("button").Length() != 1 {
				t.Errorf("a provider without an end session endpoint gets a button: %s", page.Find("main").Text())
			}
			tokens.Refresh = s.refresh(tokens.Refresh).Refresh
			if back := s.silently(browser, s.request("openid"), nil); back.Get("error") != "" {
				t.Fatalf("the session ends before the user agrees: %v", back)
			}
			done := s.press(browser, page, "here")
			if s.isLive(browser, tokens) {
				t.Error("the session lives on")
			}
			if to := done.header.Get("Location"); to != c.back || !strings.Contains(done.Find("main").Text(), c.shows) {
				t.Errorf("then it goes to %q and shows %s, want %q", to, done.Find("main").Text(), c.back)
			}
		})
	}
}

func TestLogout_hint(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newLoginApp(t, db, contract.AppClientSettings{})
	fake, provider := s.offerFake()
	browser := s.browser()
	tokens := s.enter(browser, fake, provider.ID, "openid offline_access")
	newer := s.enter(browser, fake, provider.ID, "openid offline_access")
	query := s.goingBack()
	query.Del("client_id")
	query.Set("id_token_hint", tokens.ID)
	if done := s.signOut(browser, query); done.header.Get("Location") != backWithState {
		t.Fatalf("with its own ID token it answers %d %s", done.status, done.Find("main").Text())
	}
	if s.isLive(browser, newer) || s.refresh(tokens.Refresh).Error == "" {
		t.Error("a session of the user lives on")
	}

	t.Run("another user", func(t *testing.T) {
		own := s.enter(browser, fake, provider.ID, "openid offline_access")
		fake.Subject = "ben"
		ben := s.enter(s.browser(), fake, provider.ID, "openid offline_access")
		fake.Subject = "ana"
		query.Set("id_token_hint", ben.ID)
		page := s.signOut(browser, query)
		if back := s.silently(browser, s.request("openid"), nil); back.Get("error") != "" {
			t.Errorf("the ID token of another user ends the session: %v", back)
		}
		if s.refresh(ben.Refresh).Error == "" {
			t.Error("the session that the ID token names lives on")
		}
		done := s.press(browser, page, "here")
		if done.header.Get("Location") != backWithState || s.isLive(browser, own) {
			t.Errorf("then it goes to %q", done.header.Get("Location"))
		}
	})
}

func TestLogout_invalid(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newLoginApp(t, db, contract.AppClientSettings{})
	fake, provider := s.offerFake()
	browser := s.browser()
	old := s.enter(s.browser(), fake, provider.ID, "openid offline_access")
	for name, change := range testkit.ByName(map[string]func(url.Values){
		"garbage":         func(q url.Values) { q.Set("id_token_hint", "garbage") },
		"an access token": func(q url.Values) { q.Set("id_token_hint", old.Access) },
		"modified":        func(q url.Values) { q.Set("id_token_hint", old.ID[:len(old.ID)-8]+"AAAAAAAA") },
		"another client":  func(q url.Values) { q.Set("client_id", "cli_other"); q.Set("id_token_hint", old.ID) },
		"repeated":        func(q url.Values) { q.Add("state", "again") },
	}) {
		tokens := s.enter(browser, fake, provider.ID, "openid offline_access")
		query := s.goingBack()
		change(query)
		page := s.signOut(browser, query)
		text := page.Find("main").Text()
		if page.status != http.StatusBadRequest || !strings.Contains(text, "Sign out?") ||
			!strings.Contains(text, "The application ") || strings.Contains(text, "not signed in") {
			t.Errorf("%s: %d %s", name, page.status, text)
		}
		done := s.press(browser, page, "here")
		if s.isLive(browser, tokens) {
			t.Errorf("%s: the session lives on", name)
		}
		if done.to != nil || !strings.Contains(done.Find("main").Text(), "You're signed out") {
			t.Errorf("%s: then it goes to %v and shows %s", name, done.to, done.Find("main").Text())
		}
		page = s.signOut(browser, query)
		if page.status != http.StatusBadRequest || page.to != nil || page.Find("form").Length() > 0 ||
			!strings.Contains(page.Find("h1").Text(), "sign-out request isn't valid") {
			t.Errorf("%s, without a session: %d %s", name, page.status, page.Find("main").Text())
		}
	}
	if got := s.refresh(old.Refresh); got.Error != "" {
		t.Errorf("an invalid request ended the session of its ID token: %+v", got)
	}
}

// A form of another site comes without the cookie of the session (SameSite=Lax).
func TestLogout_posted(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newLoginApp(t, db, contract.AppClientSettings{})
	fake, provider := s.offerFake()
	browser := s.browser()
	tokens := s.enter(browser, fake, provider.ID, "openid offline_access")
	page := s.post(s.browser(), s.path("/logout"), s.goingBack())
	if page.header.Get("Set-Cookie") != "" {
		t.Errorf("a request without a cookie removes one: %s", page.header.Get("Set-Cookie"))
	}
	done := s.press(browser, page, "here")
	if done.header.Get("Location") != backWithState || s.isLive(browser, tokens) {
		t.Errorf("then it answers %d to %v", done.status, done.to)
	}
	if again := s.signOut(browser, s.goingBack()); again.header.Get("Location") != backWithState {
		t.Errorf("without a session it answers %d %s", again.status, again.Find("main").Text())
	}
}

// A sign-in that no longer lasts for prompt=none is still one to sign out of.
func TestLogout_idleSession(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newLoginApp(t, db, contract.AppClientSettings{})
		fake, provider := s.offerFake()
		browser := s.browser()
		tokens := s.enter(browser, fake, provider.ID, "openid offline_access")
		_, err := db.SQL().ExecContext(t.Context(), "UPDATE login_sessions SET seen_at = $1",
			models.Now().Add(-2*login.HostedTTL))
		if err != nil {
			t.Fatal(err)
		}
		s.press(browser, s.signOut(browser, nil), "here")
		if s.isLive(browser, tokens) {
			t.Error("the session lives on")
		}
	})
}

func TestLogout_atProvider(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newLoginApp(t, db, contract.AppClientSettings{})
	fake, provider := s.offerFake()
	fake.Discovery = func(document map[string]any) { document["end_session_endpoint"] = fake.URL + "/bye?a=b" }
	browser := s.browser()
	want := fake.URL + "/bye?a=b&client_id=" + idp.ClientID
	tokens := s.enter(browser, fake, provider.ID, "openid offline_access")
	page := s.signOut(browser, s.goingBack())
	if policy := page.header.Get("Content-Security-Policy"); !strings.Contains(policy, "http://127.0.0.1:*") {
		t.Errorf("the policy keeps the browser from the provider: %s", policy)
	}
	done := s.press(browser, page, "provider")
	if done.to == nil || done.to.String() != want || s.isLive(browser, tokens) {
		t.Errorf("the button leads to %v, want %s", done.to, want)
	}
	tokens = s.enter(browser, fake, provider.ID, "openid offline_access")
	done = s.signOut(browser, url.Values{"id_token_hint": {tokens.ID}})
	if link := done.Find("main a").AttrOr("href", ""); link != want {
		t.Errorf("the page offers %q, want %s: %s", link, want, done.Find("main").Text())
	}
}
