package providers_test

import (
	"errors"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"postern/service/login/providers"
	"postern/service/login/tokencheck"
	"postern/testkit/fakeoidc"
)

// typed signs with the provider's key, saying what it is in the header.
func typed(t *testing.T, fake *fakeoidc.Provider, typ string, claims map[string]any) string {
	t.Helper()
	key := jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: fake.Key, KeyID: fakeoidc.KeyID}}
	signer, err := jose.NewSigner(key, (&jose.SignerOptions{}).WithType(jose.ContentType(typ)))
	if err != nil {
		t.Fatal(err)
	}
	text, err := jwt.Signed(signer).Claims(claims).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// What issuers sign for our app, as access tokens and as others. Shapes: Auth0's of
// auth0.com/docs/secure/tokens/access-tokens/access-token-profiles, Keycloak's typ of
// its TokenUtil, node-oidc-provider's of its lib/models, ID tokens' of OpenID Connect
// Core 1.0, 2, 3.1.3.6, 3.3.2.11 and 12.2.
func TestAccessTokensAreToldFromIDTokens(t *testing.T) {
	const app, api = fakeoidc.ClientID, "https://api.example.com"
	type m = map[string]any
	tests := map[string]struct {
		typ    string
		claims m
		good   bool
	}{
		"Auth0": {"JWT", m{
			"aud":   []string{api, "https://tenant.example/userinfo"},
			"azp":   app,
			"scope": "openid read",
		}, true},
		"Auth0, without scopes": {"JWT", m{"aud": api, "azp": app}, true},
		"Auth0, as RFC 9068 has it": {"at+jwt", m{
			"aud":       []string{api, "https://tenant.example/userinfo"},
			"client_id": app,
			"jti":       "x",
		}, true},
		"node-oidc-provider":              {"at+jwt", m{"aud": api, "client_id": app, "scope": "read"}, true},
		"node-oidc-provider, for the app": {"at+jwt", m{"aud": app, "client_id": app}, true},
		"the whole media type":            {"application/at+jwt", m{"aud": app, "client_id": app}, true},
		"Keycloak": {"JWT", m{
			"typ":   "Bearer",
			"aud":   "account",
			"azp":   app,
			"scope": "openid",
			"sid":   "x",
		}, true},
		"Keycloak, for the app, with a nonce": {"JWT", m{
			"typ":   "Bearer",
			"aud":   []string{app, "account"},
			"azp":   app,
			"nonce": "n",
		}, true},
		"for the app, with a scope":       {"JWT", m{"aud": app, "azp": app, "scope": "read"}, true},
		"for the app, with scopes in scp": {"", m{"aud": app, "azp": app, "scp": []string{"read"}}, true},

		"Auth0's ID token": {"JWT", m{
			"aud":   app,
			"nonce": "n",
			"sid":   "x",
			"name":  "Ana",
		}, false},
		"Auth0's ID token, refreshed": {"JWT", m{"aud": app, "name": "Ana"}, false},
		"Keycloak's ID token": {"JWT", m{
			"typ":     "ID",
			"aud":     app,
			"azp":     app,
			"nonce":   "n",
			"at_hash": "h",
		}, false},
		"Keycloak's ID token, with a scope": {"JWT", m{
			"typ":   "ID",
			"aud":   []string{app, api},
			"azp":   app,
			"scope": "openid",
		}, false},
		"Keycloak's refresh token": {"JWT", m{
			"typ":   "Refresh",
			"aud":   "https://issuer.example",
			"azp":   app,
			"scope": "openid",
		}, false},
		"Keycloak's ID token, mislabelled": {"at+jwt", m{"typ": "ID", "aud": app, "azp": app}, false},
		"node-oidc-provider's ID token":    {"", m{"aud": app, "nonce": "n", "at_hash": "h"}, false},
		"an ID token, with azp":            {"JWT", m{"aud": app, "azp": app}, false},
		"an ID token, with client_id":      {"JWT", m{"aud": app, "azp": app, "client_id": app}, false},
		"an ID token for several":          {"JWT", m{"aud": []string{app, api}, "azp": app}, false},
		"an ID token for a list of one":    {"JWT", m{"aud": []string{app}, "azp": app}, false},
		"an ID token with a scope, by its nonce": {"JWT", m{
			"aud":   app,
			"azp":   app,
			"scope": "openid",
			"nonce": "n",
		}, false},
		"an ID token with a scope, by its at_hash": {"JWT", m{
			"aud":     app,
			"azp":     app,
			"scope":   "openid",
			"at_hash": "h",
		}, false},
		"an ID token with a scope, by its c_hash": {"JWT", m{
			"aud":    app,
			"azp":    app,
			"scope":  "openid",
			"c_hash": "h",
		}, false},
		"a logout token": {"logout+jwt", m{"aud": app, "events": m{}}, false},
		"an access token of another app's for an API": {"at+jwt", m{
			"aud":       []string{api, app},
			"client_id": "another",
		}, false},
	}
	for _, kind := range []string{providers.OIDC, providers.Auth0} {
		s := kinds[kind](t)
		for name, one := range tests {
			one.claims["iss"], one.claims["sub"], one.claims["exp"] = s.fake.Issuer, s.fake.Subject, time.Now().Add(
				time.Hour,
			).Unix()
			got, err := s.set.Owner(t.Context(), s.config, typed(t, s.fake, one.typ, one.claims), false)
			if one.good && (err != nil || got.Subject != s.fake.Subject) {
				t.Errorf("%s: %s: %+v, %v", kind, name, got, err)
			}
			if !one.good && !errors.Is(err, tokencheck.ErrRefused) {
				t.Errorf("%s: %s passes as an access token: %+v, %v", kind, name, got, err)
			}
		}
		// The very token that a login brings.
		if _, tokens, err := s.login(t); err != nil {
			t.Error(err)
		} else if _, err := s.set.Owner(t.Context(), s.config, tokens.ID.Reveal(), false); !errors.Is(err, tokencheck.ErrRefused) {
			t.Errorf("%s: the ID token of a login: %v", kind, err)
		} else if _, err := s.set.Owner(t.Context(), s.config, tokens.ID.Reveal(), true); err != nil {
			t.Errorf("%s: the ID token of a login as what it is: %v", kind, err)
		}
	}
}
