package oidc_test

import (
	"encoding/json"
	"slices"
	"testing"

	"postern/core/contract"
	"postern/service/login"
	"postern/testkit/state"
)

// TestDiscovery_authorizationServer checks that both addresses of RFC 8414 answer as OpenID Connect's does.
func TestDiscovery_authorizationServer(t *testing.T) {
	t.Parallel()
	s := newLoginApp(t, state.OpenSQLite(t), contract.AppClientSettings{})
	want := s.get(s.browser(), s.path("/.well-known/openid-configuration"))
	var found login.Metadata
	err := json.Unmarshal([]byte(want.raw), &found)
	if err != nil || found.Issuer != s.server.Login.Issuer(s.client.ID) ||
		!slices.Contains(found.ResponseModes, "form_post") {
		t.Fatalf("discovery: %v %s", err, want.raw)
	}
	for _, path := range []string{
		s.path("/.well-known/oauth-authorization-server"),
		"/.well-known/oauth-authorization-server" + s.path(""),
	} {
		if got := s.get(s.browser(), path); got.status != 200 || got.raw != want.raw {
			t.Errorf("%s: %d %s", path, got.status, got.raw)
		}
	}
}
