package oidc_test

import (
	"net/http"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/testkit/state"
)

// A provider may give an ID token alone, unless its access token is handed on.
func TestCallback_idTokenAlone(t *testing.T) {
	t.Parallel()
	for types, want := range map[contract.NewTokenType]bool{
		{Client: "service", Upstream: "service"}:                true,
		{Client: "service", Upstream: "none"}:                   true,
		{Client: "service", Upstream: "provider_id_token"}:      true,
		{Client: "provider", Upstream: "provider_id_token"}:     true,
		{Client: "service", Upstream: "provider_access_token"}:  false,
		{Client: "provider", Upstream: "provider_access_token"}: false,
		{Client: "provider", Upstream: "none"}:                  false,
	} {
		s := newLoginApp(t, state.OpenSQLite(t), contract.AppClientSettings{})
		fake, provider := s.offerFake(types)
		fake.Token = func(answer map[string]any) { delete(answer, "access_token") }
		browser, r := s.browser(), s.request("openid")
		page := s.get(browser, fake.Authorize(t, s.toProvider(browser, r, provider.ID).String()).String())
		said := page.Find("main").Text()
		if (page.status == http.StatusOK) != want || strings.Contains(said, "didn't send an access token") == want {
			t.Errorf("%+v: the answer gets %d %s", types, page.status, said)
		}
		if !want {
			continue
		}
		back := s.post(browser, s.path("/consent"), formOf(page, "agree")).to
		if back == nil || s.exchange(r, back).Access == "" {
			t.Errorf("%+v: the application gets %v", types, back)
		}
	}
}
