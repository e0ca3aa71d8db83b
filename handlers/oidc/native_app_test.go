package oidc_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/testkit/state"
)

// TestNativeApp_signIn goes the way of AppAuth: it opens the system's browser, waits at its own scheme or at a
// loopback port that the system chose, and exchanges the code with the redirect URI that it sent (RFC 8252, 7.1 and
// 7.3).
func TestNativeApp_signIn(t *testing.T) {
	t.Parallel()
	for name, uri := range map[string]struct{ registered, sent, other, source string }{
		"private-use scheme": {
			"com.example.app:/oauth2redirect", "com.example.app:/oauth2redirect", "com.example.app:/other",
			"com.example.app:",
		},
		"IPv4 loopback": {
			"http://127.0.0.1/callback", "http://127.0.0.1:51004/callback", "http://127.0.0.1:51005/callback",
			"http://127.0.0.1:51004",
		},
		"IPv6 loopback": {
			"http://[::1]/callback", "http://[::1]:51004/callback", "http://[::1]:51005/callback", "http:",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := state.OpenSQLite(t)
			s := newLoginApp(t, db, contract.AppClientSettings{})
			uris := []string{uri.registered}
			_, err := s.server.AppClients.UpdateClient(t.Context(), s.owner, contract.AppClientSettings{
				RedirectURIs: &uris,
			}.Of(s.client.ID))
			if err != nil {
				t.Fatal(err)
			}
			fake, provider := s.offerFake()
			browser, r := s.browser(), s.request("openid")
			r.query.Set("redirect_uri", uri.sent)
			page := s.get(browser, fake.Authorize(t, s.toProvider(browser, r, provider.ID).String()).String())
			policy := page.header.Get("Content-Security-Policy")
			if !strings.Contains(policy, "form-action 'self' "+uri.source) {
				t.Errorf("the consent form may not lead to the app: %s", policy)
			}
			back := s.post(browser, s.path("/consent"), formOf(page, "agree")).to
			if back == nil || !strings.HasPrefix(back.String(), uri.sent+"?") {
				t.Fatalf("the browser is sent to %v, want %s", back, uri.sent)
			}
			form := url.Values{
				"grant_type":    {"authorization_code"},
				"code":          {back.Query().Get("code")},
				"redirect_uri":  {uri.other},
				"code_verifier": {r.verifier},
			}
			if got := s.token(form); got.Error != "invalid_grant" {
				t.Errorf("an exchange with another redirect URI than the one sent: %+v", got)
			}
			form.Set("redirect_uri", uri.sent)
			if got := s.token(form); got.status != http.StatusOK || got.Access == "" {
				t.Errorf("the exchange gives %+v", got)
			}
		})
	}
}
