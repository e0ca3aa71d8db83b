package oidc_test

import (
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/testkit/state"
)

func TestToken_refusedExchanges(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	confidential := true
	s := newLoginApp(t, db, contract.AppClientSettings{Confidential: &confidential})
	fake, provider := s.offerFake()
	r, back := s.signIn(fake, provider, "openid offline_access")
	code := url.Values{
		"grant_type":    {"authorization_code"},
		"code":          {back.Query().Get("code")},
		"redirect_uri":  {callback},
		"code_verifier": {r.verifier},
	}
	with := func(name, value string) url.Values {
		out := maps.Clone(code)
		out[name] = []string{value}
		return out
	}
	for name, form := range map[string]url.Values{
		"another verifier":     with("code_verifier", r.verifier[1:]+"x"),
		"the challenge itself": with("code_verifier", r.query.Get("code_challenge")),
		"no verifier":          with("code_verifier", ""),
		"another redirect URI": with("redirect_uri", callback+"/"),
		"no redirect URI":      with("redirect_uri", ""),
		"another secret":       with("client_secret", "wrong"),
		"another client":       with("client_id", "cli_other"),
		"a code cut off":       with("code", code.Get("code")[1:]),
		"as a refresh token":   {"grant_type": {"refresh_token"}, "refresh_token": code["code"]},
		"by password":          {"grant_type": {"password"}, "username": {"ana"}, "password": {"x"}},
	} {
		if got := s.token(form); got.status == http.StatusOK || got.Access != "" {
			t.Errorf("%s is taken: %+v", name, got)
		}
	}
	if got := s.token(code); got.status != http.StatusOK {
		t.Errorf("the honest exchange after them gives %+v", got)
	}
}

// Codes and refresh tokens count once, for the client and the login they are of.
func TestToken_grantOnce(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	confidential := true
	s := newLoginApp(t, db, contract.AppClientSettings{Confidential: &confidential})
	fake, provider := s.offerFake()
	r, back := s.signIn(fake, provider, "openid offline_access")
	code := url.Values{
		"grant_type":    {"authorization_code"},
		"code":          {back.Query().Get("code")},
		"redirect_uri":  {callback},
		"code_verifier": {r.verifier},
	}
	first := s.token(code)
	if first.status != http.StatusOK || first.Refresh == "" {
		t.Fatalf("the honest exchange gives %+v", first)
	}
	refresh := func(token string) got {
		return s.token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}})
	}
	for _, scope := range []string{
		"openid profile email groups offline_access phone",
		"admin",
		"email", // openid cannot be left out
	} {
		got := s.token(url.Values{
			"grant_type":    {"refresh_token"},
			"refresh_token": {first.Refresh},
			"scope":         {scope},
		})
		if got.Error != "invalid_scope" {
			t.Errorf("a refresh with the scope %q: %+v, want invalid_scope", scope, got)
		}
	}
	second := refresh(first.Refresh)
	if second.status != http.StatusOK || second.Refresh == "" || second.Refresh == first.Refresh {
		t.Fatalf("refreshing gives %+v", second)
	}
	s.ageGrants(time.Minute)
	if got := refresh(first.Refresh); got.Error != "invalid_grant" {
		t.Errorf("the refresh token is taken a second time: %+v", got)
	}
	if got := refresh(second.Refresh); got.Error != "invalid_grant" {
		t.Errorf("after a reuse its successor still works: %+v", got)
	}
	if got := s.userInfo(first.Access); got != http.StatusUnauthorized {
		t.Errorf("userinfo after the session has ended: %d", got)
	}

	r, back = s.signIn(fake, provider, "openid offline_access")
	third := s.exchange(r, back)
	if got := s.exchange(r, back); got.Error != "invalid_grant" {
		t.Errorf("the code is taken a second time: %+v", got)
	}
	if got := refresh(third.Refresh); got.Error != "invalid_grant" {
		t.Errorf("after a code came twice, what it gave still works: %+v", got)
	}
}

func (s *app) userInfo(token string) int {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+s.path("/userinfo"), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	return s.do(s.browser(), r).status
}

// Sign-ins with a provider end with it, as at the gateway and for refresh tokens.
func TestUserInfo_providerRemoved(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newLoginApp(t, db, contract.AppClientSettings{})
	fake, provider := s.offerFake()
	_, other := s.offerFake()
	got := s.exchange(s.signIn(fake, provider, "openid"))
	if _, err := s.server.AppClients.DeleteProvider(t.Context(), s.owner, other.Path()); err != nil {
		t.Fatal(err)
	}
	if status := s.userInfo(got.Access); status != http.StatusOK {
		t.Fatalf("userinfo without another provider: %d", status)
	}
	if _, err := s.server.AppClients.DeleteProvider(t.Context(), s.owner, provider.Path()); err != nil {
		t.Fatal(err)
	}
	if status := s.userInfo(got.Access); status != http.StatusUnauthorized {
		t.Errorf("userinfo without its provider: %d", status)
	}
}

// Our own tokens do not pass for each other, nor at another issuer.
func TestToken_onePurpose(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newLoginApp(t, db, contract.AppClientSettings{})
	fake, provider := s.offerFake()
	r, back := s.signIn(fake, provider, "openid profile")
	got := s.exchange(r, back)
	if status := s.userInfo(got.Access); status != http.StatusOK {
		t.Fatalf("userinfo with the access token: %d", status)
	}
	if status := s.userInfo(got.ID); status != http.StatusUnauthorized {
		t.Errorf("userinfo with the ID token: %d", status)
	}
	name := "other"
	other, err := s.server.AppClients.CreateClient(t.Context(), s.owner, contract.NewAppClient{Name: name}.In(s.tenant))
	if err != nil {
		t.Fatal(err)
	}
	mine := s.client
	s.client = other
	if status := s.userInfo(got.Access); status != http.StatusUnauthorized {
		t.Errorf("userinfo of another issuer: %d", status)
	}
	s.client = mine
	user := claims(t, got.Access)["sub"].(string)
	err = db.Write(t.Context(), func(tx *models.Tx) error {
		row, err := tx.EndUserByID(user)
		if err != nil {
			return err
		}
		row.State = "frozen"
		return tx.UpdateEndUser(row)
	})
	if err != nil {
		t.Fatal(err)
	}
	if status := s.userInfo(got.Access); status != http.StatusUnauthorized {
		t.Errorf("userinfo of a frozen user: %d", status)
	}
	browser := s.browser()
	back = fake.Authorize(t, s.toProvider(browser, s.request("openid"), provider.ID).String())
	again := s.get(browser, back.String())
	if again.status != http.StatusForbidden || !strings.Contains(again.Find("main").Text(), "frozen") {
		t.Errorf("a frozen user signs in: %d %s", again.status, again.Find("main").Text())
	}
}
