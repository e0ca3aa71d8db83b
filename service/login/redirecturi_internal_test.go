package login

import (
	"context"
	"net/url"
	"slices"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/testkit/state"
)

func TestCheckURI(t *testing.T) {
	for uri, fits := range map[string]bool{
		"https://app.example.com/callback":       true,
		"http://127.0.0.1/callback":              true,
		"http://127.0.0.1:8400/callback":         true,
		"http://[::1]/callback":                  true,
		"http://localhost:3000/callback":         true,
		"com.example.app:/callback":              true,
		"com.example.app://callback":             true,
		"com.example.app:///callback":            true,
		"com.example.my-app:/a?b=c":              true,
		"com.googleusercontent.apps.123-abc:/cb": true,

		"https://app.example.com:65535/callback": true,

		"https://app.example.com:0/callback":     false,
		"https://app.example.com:99999/callback": false,
		"http://127.0.0.1:99999/callback":        false,
		"http://app.example.com/callback":        false,
		"http://127.0.0.1.example.com/":          false,
		"app:/callback":                          false, // no dot: any app could have it
		"app://callback":                         false,
		"javascript:alert(1)":                    false,
		"data:text/html,x":                       false,
		"file:///etc/passwd":                     false,
		"com.example.app:callback":               false,
		"com.example.app:":                       false,
		"app.example.com:8443/callback":          false, // https:// was forgotten
		"Com.Example.App:/callback":              false, // schemes come back in lower case
		".com.example:/callback":                 false,
		"com..example:/callback":                 false,
		"com.example.:/callback":                 false,
		"com.example.app:/callback#fragment":     false,
		"com.example.app://ana:pw@callback":      false,
		"com.example.app:/call back":             false,
		"com.example.app:/a;b":                   false, // would end a directive of the pages' policy
		"//app.example.com/callback":             false,
		"":                                       false,
	} {
		if detail := checkURI(uri); (detail == "") != fits {
			t.Errorf("checkURI(%q) = %q, want it to fit: %t", uri, detail, fits)
		}
	}
}

func TestIsRegistered(t *testing.T) {
	registered := []string{
		"https://app.example.com/callback",
		"https://127.0.0.1/callback",
		"http://127.0.0.1/callback",
		"http://[::1]:8400/callback?a=b",
		"http://localhost:3000/callback",
		"com.example.app:/callback",
	}
	for uri, want := range map[string]bool{
		"https://app.example.com/callback":      true,
		"http://127.0.0.1/callback":             true,
		"http://127.0.0.1:51004/callback":       true,
		"http://127.0.0.1:65535/callback":       true,
		"http://[::1]/callback?a=b":             true,
		"http://[::1]:51004/callback?a=b":       true,
		"http://localhost:3000/callback":        true,
		"com.example.app:/callback":             true,
		"https://app.example.com:8443/callback": false,
		"https://127.0.0.1:8443/callback":       false,
		"http://localhost:51004/callback":       false,
		"http://localhost/callback":             false,
		"http://127.0.0.1:0/callback":           false,
		"http://127.0.0.1:65536/callback":       false,
		"http://127.0.0.1:/callback":            false,
		"http://127.0.0.1:51004/callback/":      false,
		"http://127.0.0.1:51004/callback?x=y":   false,
		"http://127.0.0.1:51004/callback#x":     false,
		"http://127.0.0.1:51004":                false,
		"http://127.0.0.2:51004/callback":       false,
		"http://[::1]:51004/callback":           false,
		"http://127.0.0.1:80@evil.com/callback": false,
		"http://127.0.0.1@evil.com/callback":    false,
		"http://127.0.0.1.evil.com/callback":    false,
		"HTTP://127.0.0.1:51004/callback":       false,
		"com.example.app://callback":            false,
		"com.example.app:/callback/x":           false,
	} {
		if got := isRegistered(registered, uri); got != want {
			t.Errorf("isRegistered(%q) = %t, want %t", uri, got, want)
		}
	}
}

func TestIsOriginOf(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newFixture(t, db, ES256)
		uris := []string{"http://127.0.0.1:3000/callback", "https://app.example.com/callback", "com.example.app:/cb"}
		_, err := s.UpdateClient(t.Context(), s.owner, contract.AppClientSettings{RedirectURIs: &uris}.Of(s.client.ID))
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
	s := &Service{PublicURL: "https://postern.example"}
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
		if !slices.Contains([]string{"com.example.app:", "http://[::1]:51004"}, originOf(uri)) {
			t.Errorf("originOf(%q) = %q", uri, originOf(uri))
		}
	}
}
