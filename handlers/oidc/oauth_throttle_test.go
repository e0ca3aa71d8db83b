package oidc_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/testkit"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// until asks again and again until it has to wait, and returns how often it was answered before that.
func until(t *testing.T, most int, ask func() step) int {
	t.Helper()
	for n := range most {
		got := ask()
		if got.status != http.StatusTooManyRequests {
			continue
		}
		if got.header.Get("Retry-After") != "900" {
			t.Errorf("it is to wait for %q seconds", got.header.Get("Retry-After"))
		}
		return n
	}
	t.Fatalf("%d times without being refused", most)
	return 0
}

// TestOAuthThrottle_guesses checks that refused requests at a client are limited, that
// successful ones do not count, and that other clients and addresses are not affected.
func TestOAuthThrottle_guesses(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newLoginApp(t, db, contract.AppClientSettings{})
	fake, provider := s.offerFake()
	r, back := s.signIn(fake, provider, "openid offline_access")
	refresh := s.exchange(r, back).Refresh
	for range 320 { // more than may fail
		got := s.token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refresh}})
		if got.status != http.StatusOK {
			t.Fatalf("refreshing is answered %d %s", got.status, got.Error)
		}
		refresh = got.Refresh
	}
	guess := func(path string) func() step {
		form := url.Values{
			"client_id":     {s.client.ID},
			"client_secret": {"a guess"},
			"grant_type":    {"refresh_token"},
			"refresh_token": {"x"},
			"token":         {"x"},
		}
		return func() step { return s.post(http.DefaultClient, path, form) }
	}
	for range 3 {
		guess(s.path("/revoke"))() // it counts with the others
	}
	if n := until(t, 400, guess(s.path("/token"))); n != 297 {
		t.Errorf("after three, %d more guesses are answered", n)
	}
	if got := guess(s.path("/revoke"))(); got.status != http.StatusTooManyRequests {
		t.Errorf("then revoking is answered %d", got.status)
	}
	if n := until(t, 400, guess("/oauth/cli_other/token")); n != 300 {
		t.Errorf("at another client %d guesses are answered", n)
	}
	if got := guess("/oauth/cli_third/token")(); got.status != http.StatusTooManyRequests {
		t.Errorf("at all clients, more than 600 guesses are answered: %d", got.status)
	}
}

func TestThrottle_deviceCodes(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newLoginApp(t, db, contract.AppClientSettings{})
	form := url.Values{"client_id": {"postern-cli"}, "grant_type": {controlplane.DeviceGrant}, "device_code": {"x"}}
	if n := until(t, 400, func() step { return s.post(http.DefaultClient, "/oauth/token", form) }); n != 300 {
		t.Errorf("%d guesses are answered", n)
	}
}

// Each login that is begun is a row.
func TestThrottle_begunLogins(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newLoginApp(t, db, contract.AppClientSettings{})
	s.offerFake()
	wrong := s.path("/authorize?client_id=" + s.client.ID)
	if n := until(t, 700, func() step { return s.get(http.DefaultClient, wrong) }); n != 600 {
		t.Errorf("%d are begun", n)
	}
	page := s.get(s.browser(), s.path("/authorize?"+s.request("openid").query.Encode()))
	if page.status != http.StatusTooManyRequests ||
		!strings.Contains(page.Find("main").Text(), "15 minutes") {
		t.Errorf("a person is told %d %s", page.status, page.Find("main").Text())
	}
}

// Revocation ends the session with its refresh tokens and userinfo.
func TestRevoke_tokens(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	confidential := true
	s := newLoginApp(t, db, contract.AppClientSettings{Confidential: &confidential})
	fake, provider := s.offerFake()
	revoke := func(secret, token string) step {
		return s.post(http.DefaultClient, s.path("/revoke"), url.Values{
			"client_id":       {s.client.ID},
			"client_secret":   {secret},
			"token":           {token},
			"token_type_hint": {"pam"},
		})
	}
	secret := s.client.ClientSecret.Reveal()
	for name, pick := range testkit.ByName(map[string]func(got) string{
		"refresh": func(g got) string { return g.Refresh },
		"access":  func(g got) string { return g.Access },
	}) {
		r, back := s.signIn(fake, provider, "openid offline_access")
		mine := s.exchange(r, back)
		r, back = s.signIn(fake, provider, "openid offline_access")
		others := s.exchange(r, back)
		if got := revoke("wrong", pick(mine)); got.status != http.StatusUnauthorized {
			t.Errorf("%s: with a wrong secret, it is answered %d", name, got.status)
		}
		for _, nothing := range []string{"x", mine.ID, pick(mine)[1:]} {
			if got := revoke(secret, nothing); got.status != http.StatusOK || got.raw != "" {
				t.Errorf("%s: text that is not a token gets %d %s", name, got.status, got.raw)
			}
		}
		if got := s.userInfo(mine.Access); got != http.StatusOK {
			t.Fatalf("%s: something else has revoked it: %d", name, got)
		}
		if got := revoke(secret, pick(mine)); got.status != http.StatusOK || got.raw != "" {
			t.Errorf("%s: it is answered %d %s", name, got.status, got.raw)
		}
		if got := s.userInfo(mine.Access); got != http.StatusUnauthorized {
			t.Errorf("%s: userinfo then answers %d", name, got)
		}
		if got := s.barred(); !slices.Contains(got, sid(t, mine.ID)) || slices.Contains(got, sid(t, others.ID)) {
			t.Errorf("%s: gateways refuse %v, want the revoked session alone", name, got)
		}
		if got := s.token(url.Values{
			"grant_type":    {"refresh_token"},
			"refresh_token": {mine.Refresh},
		}); got.Error != "invalid_grant" {
			t.Errorf("%s: refreshing then answers %+v", name, got)
		}
		if got := s.userInfo(others.Access); got != http.StatusOK {
			t.Errorf("%s: another session has ended with it: %d", name, got)
		}
	}
	if got := revoke(secret, ""); got.status != http.StatusBadRequest {
		t.Errorf("without a token, it is answered %d", got.status)
	}
}

// A client can only revoke what is its own.
func TestRevoke_otherClients(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newLoginApp(t, db, contract.AppClientSettings{})
	fake, provider := s.offerFake()
	r, back := s.signIn(fake, provider, "openid offline_access")
	mine := s.exchange(r, back)
	name := "other"
	other, err := s.server.AppClients.CreateClient(t.Context(), s.owner, contract.NewAppClient{Name: name}.In(s.tenant))
	if err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{mine.Refresh, mine.Access} {
		got := s.post(http.DefaultClient, "/oauth/"+other.ID+"/revoke", url.Values{
			"client_id": {other.ID},
			"token":     {token},
		})
		if got.status != http.StatusOK || s.userInfo(mine.Access) != http.StatusOK {
			t.Errorf("another client is answered %d and has revoked it", got.status)
		}
	}
}
