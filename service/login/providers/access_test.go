package providers_test

import (
	"errors"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"postern/service/login/providers"
	"postern/service/login/tokencheck"
	"postern/testkit/idp"
)

// typed signs with the provider's key, saying what it is in the header.
func typed(t *testing.T, fake *idp.Fake, typ string, claims map[string]any) string {
	t.Helper()
	key := jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: fake.Key, KeyID: idp.KeyID}}
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

type claims = map[string]any

const (
	app    = idp.ClientID
	apiURL = "https://api.example.com"
)

// signedTokens are access tokens (good) and other tokens that issuers sign for an app.
// Sources: auth0.com/docs/secure/tokens/access-tokens/access-token-profiles, Keycloak's
// TokenUtil, node-oidc-provider's lib/models, and for ID tokens OpenID Connect Core 1.0,
// 2, 3.1.3.6, 3.3.2.11 and 12.2.
var signedTokens = map[string]struct {
	typ    string
	claims claims
	good   bool
}{
	"Auth0": {"JWT", claims{
		"aud":   []string{apiURL, "https://tenant.example/userinfo"},
		"azp":   app,
		"scope": "openid read",
	}, true},
	"Auth0, without scopes": {"JWT", claims{"aud": apiURL, "azp": app}, true},
	"Auth0, as RFC 9068 has it": {"at+jwt", claims{
		"aud":       []string{apiURL, "https://tenant.example/userinfo"},
		"client_id": app,
		"jti":       "x",
	}, true},
	"node-oidc-provider":              {"at+jwt", claims{"aud": apiURL, "client_id": app, "scope": "read"}, true},
	"node-oidc-provider, for the app": {"at+jwt", claims{"aud": app, "client_id": app}, true},
	"the whole media type":            {"application/at+jwt", claims{"aud": app, "client_id": app}, true},
	"Keycloak": {"JWT", claims{
		"typ":   "Bearer",
		"aud":   "account",
		"azp":   app,
		"scope": "openid",
		"sid":   "x",
	}, true},
	"Keycloak, for the app, with a nonce": {"JWT", claims{
		"typ":   "Bearer",
		"aud":   []string{app, "account"},
		"azp":   app,
		"nonce": "n",
	}, true},
	"for the app, with a scope":       {"JWT", claims{"aud": app, "azp": app, "scope": "read"}, true},
	"for the app, with scopes in scp": {"", claims{"aud": app, "azp": app, "scp": []string{"read"}}, true},

	"Auth0's ID token": {"JWT", claims{
		"aud":   app,
		"nonce": "n",
		"sid":   "x",
		"name":  "Ana",
	}, false},
	"Auth0's ID token, refreshed": {"JWT", claims{"aud": app, "name": "Ana"}, false},
	"Keycloak's ID token": {"JWT", claims{
		"typ":     "ID",
		"aud":     app,
		"azp":     app,
		"nonce":   "n",
		"at_hash": "h",
	}, false},
	"Keycloak's ID token, with a scope": {"JWT", claims{
		"typ":   "ID",
		"aud":   []string{app, apiURL},
		"azp":   app,
		"scope": "openid",
	}, false},
	"Keycloak's refresh token": {"JWT", claims{
		"typ":   "Refresh",
		"aud":   "https://issuer.example",
		"azp":   app,
		"scope": "openid",
	}, false},
	"Keycloak's ID token, mislabeled": {"at+jwt", claims{"typ": "ID", "aud": app, "azp": app}, false},
	"node-oidc-provider's ID token":   {"", claims{"aud": app, "nonce": "n", "at_hash": "h"}, false},
	"an ID token, with azp":           {"JWT", claims{"aud": app, "azp": app}, false},
	"an ID token, with client_id":     {"JWT", claims{"aud": app, "azp": app, "client_id": app}, false},
	"an ID token for several":         {"JWT", claims{"aud": []string{app, apiURL}, "azp": app}, false},
	"an ID token for a list of one":   {"JWT", claims{"aud": []string{app}, "azp": app}, false},
	"an ID token with a scope, by its nonce": {"JWT", claims{
		"aud":   app,
		"azp":   app,
		"scope": "openid",
		"nonce": "n",
	}, false},
	"an ID token with a scope, by its at_hash": {"JWT", claims{
		"aud":     app,
		"azp":     app,
		"scope":   "openid",
		"at_hash": "h",
	}, false},
	"an ID token with a scope, by its c_hash": {"JWT", claims{
		"aud":    app,
		"azp":    app,
		"scope":  "openid",
		"c_hash": "h",
	}, false},
	"a logout token": {"logout+jwt", claims{"aud": app, "events": claims{}}, false},
	"an access token of another app's for an API": {"at+jwt", claims{
		"aud":       []string{apiURL, app},
		"client_id": "another",
	}, false},
}

func TestOwner_accessTokens(t *testing.T) {
	for _, kind := range []string{providers.OIDC, providers.Auth0} {
		s := kinds[kind](t)
		for name, one := range signedTokens {
			t.Run(kind+"/"+name, func(t *testing.T) {
				one.claims["iss"], one.claims["sub"] = s.fake.Issuer, s.fake.Subject
				one.claims["exp"] = time.Now().Add(time.Hour).Unix()
				got, err := s.set.Owner(t.Context(), s.config, typed(t, s.fake, one.typ, one.claims), false)
				if one.good && (err != nil || got.Subject != s.fake.Subject) {
					t.Errorf("got %+v, %v", got, err)
				}
				if !one.good && !errors.Is(err, tokencheck.ErrRefused) {
					t.Errorf("it passes as an access token: %+v, %v", got, err)
				}
			})
		}
		t.Run(kind+"/the ID token of a login", func(t *testing.T) {
			_, tokens, err := s.login(t)
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.set.Owner(t.Context(), s.config, tokens.ID.Reveal(), false)
			if !errors.Is(err, tokencheck.ErrRefused) {
				t.Errorf("as an access token: %v", err)
			}
			if _, err := s.set.Owner(t.Context(), s.config, tokens.ID.Reveal(), true); err != nil {
				t.Errorf("as an ID token: %v", err)
			}
		})
	}
}
