package login

import (
	"context"
	"net/url"
	"slices"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/service/appclients"
	"postern/testkit/state"
)

func TestIsOriginOf(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newFixture(t, db, contract.ES256)
		uris := []string{"http://127.0.0.1:3000/callback", "https://app.example.com/callback", "com.example.app:/cb"}
		_, err := s.Clients.UpdateClient(
			t.Context(), s.owner, contract.AppClientSettings{RedirectURIs: &uris}.Of(s.client.ID),
		)
		if err != nil {
			t.Fatal(err)
		}
		for origin, want := range map[string]bool{
			"http://127.0.0.1:3000":        true,
			"http://127.0.0.1:51004":       true,
			"https://app.example.com":      true,
			"https://app.example.com:8443": false,
			"http://localhost:3000":        false,
			"https://127.0.0.1:3000":       false,
			"null":                         false,
			"":                             false,
		} {
			if got := s.IsOriginOf(context.Background(), s.client.ID, origin); got != want {
				t.Errorf("IsOriginOf(%q) = %t, want %t", origin, got, want)
			}
		}
	})
}

// A native app's own URI has to come back as it was registered, with the answer in its
// query.
func TestBackTo_nativeApps(t *testing.T) {
	s := New(&appclients.Service{PublicURL: "https://postern.example"})
	const answer = "code=1&iss=https%3A%2F%2Fpostern.example%2Foauth%2Fcli_1"
	for uri, want := range map[string]string{
		"com.example.app:/callback":    "com.example.app:/callback?" + answer,
		"com.example.app://callback":   "com.example.app://callback?" + answer,
		"com.example.app:///callback":  "com.example.app:///callback?" + answer,
		"com.example.app:/?a=b%2Fc":    "com.example.app:/?a=b%2Fc&" + answer,
		"http://[::1]:51004/callback/": "http://[::1]:51004/callback/?" + answer,
	} {
		attempt := models.LoginAttempt{ClientID: "cli_1", RedirectURI: uri}
		if got := s.backTo(attempt, url.Values{"code": {"1"}}); got.URL != want || got.Form != nil {
			t.Errorf("backTo(%q) = %v, want %q", uri, got, want)
		}
		if !slices.Contains([]string{"com.example.app:", "http://[::1]:51004"}, appclients.OriginOf(uri)) {
			t.Errorf("appclients.OriginOf(%q) = %q", uri, appclients.OriginOf(uri))
		}
	}
}
