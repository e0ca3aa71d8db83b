package oidc_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"net/http"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"postern/core/contract"
	"postern/service/login/providers"
	"postern/testkit/idp"
)

// claiming is an ID token that says something else.
func claiming(name string, change func(claims map[string]any)) attack {
	return attack{name, func(s *providerLogin) step {
		honest := s.fake.Claims
		s.fake.Claims = func(claims map[string]any) {
			if honest != nil {
				honest(claims)
			}
			change(claims)
		}
		return s.arrives()
	}}
}

// signing is an ID token under another signature.
func signing(name string, sign func(s *providerLogin, claims map[string]any) string) attack {
	return attack{name, func(s *providerLogin) step {
		s.fake.Sign = func(claims map[string]any) string { return sign(s, claims) }
		return s.arrives()
	}}
}

// documented is a discovery document that says something else.
func documented(name, member string, value any) attack {
	return attack{name, func(s *providerLogin) step {
		s.fake.Discovery = func(document map[string]any) { document[member] = value }
		return s.arrives()
	}}
}

// stolenKey is an attacker's key under an id of their choice.
var stolenKey = func() func(id string) jose.SigningKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return func(id string) jose.SigningKey {
		return jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: key, KeyID: id}}
	}
}()

const metadataAddress = "http://169.254.169.254/"

var onTheIDToken = []attack{
	claiming("another nonce", func(c map[string]any) { c["nonce"] = "of another login" }),
	claiming("no nonce", func(c map[string]any) { delete(c, "nonce") }),
	claiming("another nonce, and ours in capitals", func(c map[string]any) {
		c["NONCE"], c["nonce"] = c["nonce"], "of another login"
	}),
	claiming("our nonce in capitals alone", func(c map[string]any) { c["NONCE"] = c["nonce"]; delete(c, "nonce") }),
	claiming("another audience, and ours in capitals", func(c map[string]any) {
		c["AUD"], c["aud"] = c["aud"], "another-client"
	}),
	claiming("another issuer", func(c map[string]any) { c["iss"] = "https://evil.example" }),
	claiming("another audience", func(c map[string]any) { c["aud"] = "another-client" }),
	claiming(
		"another audience next to ours",
		func(c map[string]any) { c["aud"] = []string{idp.ClientID, "another-client"}; delete(c, "azp") },
	),
	claiming("another authorized party", func(c map[string]any) { c["azp"] = "another-client" }),
	claiming("an ID token that has expired", func(c map[string]any) { c["exp"] = time.Now().Add(-time.Hour).Unix() }),
	claiming("an ID token that never expires", func(c map[string]any) { delete(c, "exp") }),
	claiming(
		"the ID token of another access token",
		func(c map[string]any) { c["at_hash"] = "AAAAAAAAAAAAAAAAAAAAAA" },
	),
	claiming(
		"a subject without end",
		func(c map[string]any) { c["sub"], c["oid"] = strings.Repeat("x", 300), strings.Repeat("x", 300) },
	),
	signing("the algorithm none", func(_ *providerLogin, c map[string]any) string { return idp.Unsigned(c) }),
	signing("HS256 with the public key", func(s *providerLogin, c map[string]any) string {
		public, err := x509.MarshalPKIXPublicKey(s.fake.Key.Public())
		if err != nil {
			s.t.Error(err)
		}
		return idp.Sign(jose.SigningKey{
			Algorithm: jose.HS256,
			Key:       jose.JSONWebKey{Key: public, KeyID: idp.KeyID},
		}, c)
	}),
	signing("an unknown key", func(_ *providerLogin, c map[string]any) string {
		return idp.Sign(stolenKey("key-2"), c)
	}),
	signing(
		"another key under a known id",
		func(_ *providerLogin, c map[string]any) string { return idp.Sign(stolenKey(idp.KeyID), c) },
	),
	signing("an ID token of nonsense", func(*providerLogin, map[string]any) string { return "a.b.c" }),
	{"no ID token", func(s *providerLogin) step {
		s.fake.Token = func(answer map[string]any) { delete(answer, "id_token") }
		return s.arrives()
	}},
	documented("a discovery document of another issuer", "issuer", "https://evil.example"),
	documented("keys inside", "jwks_uri", metadataAddress+"keys"),
	documented("a token endpoint inside", "token_endpoint", metadataAddress+"token"),
	documented("a token endpoint that is a file", "token_endpoint", "file:///etc/passwd"),
	documented("an authorization endpoint that is a script", "authorization_endpoint", "javascript:alert(1)"),
	documented(
		"an answer without the issuer that was promised", "authorization_response_iss_parameter_supported",
		true,
	),
}

// inside configures a provider whose issuer is an internal address.
var inside = attack{"an issuer inside", func(s *providerLogin) step {
	name, secret := idp.ClientID, contract.Secret("x")
	for _, issuer := range []string{metadataAddress, "https://10.0.0.1", "https://[fd00::1]", "https://0x7f.1"} {
		if _, err := s.server.AppClients.CreateProvider(s.t.Context(), s.owner, contract.NewProvider{
			Type:             s.kind,
			Issuer:           issuer,
			ProviderSettings: contract.ProviderSettings{ClientID: &name, ClientSecret: &secret},
		}.In(s.client.ID)); err == nil {
			s.t.Errorf("the issuer %s is taken", issuer)
		}
	}
	return s.judged()
}}

// aboutSomebodyElse lets userinfo return another user, which is asked where the ID
// token has no address (OpenID Connect Core 1.0, 5.3.2).
var aboutSomebodyElse = attack{"userinfo about somebody else", func(s *providerLogin) step {
	honest := s.fake.Claims
	s.fake.Claims = func(claims map[string]any) {
		if honest != nil {
			honest(claims)
		}
		delete(claims, "email")
	}
	s.answering(func(path string) bool { return path == "/userinfo" }, func(w http.ResponseWriter, _ *http.Request) {
		idp.Answer(w, http.StatusOK, map[string]any{
			"sub":            "somebody-else",
			"email":          "ana@example.com",
			"email_verified": true,
		})
	})
	return s.arrives()
}}

// api has one of a provider's own endpoints answer something else.
func api(name, path string, status int, body any) attack {
	return attack{name, func(s *providerLogin) step {
		s.answering(
			func(asked string) bool { return strings.HasSuffix(asked, path) },
			func(w http.ResponseWriter, _ *http.Request) { idp.Answer(w, status, body) },
		)
		return s.arrives()
	}}
}

// book changes Facebook's response about a token or a user.
func book(name string, change func(debug, me map[string]any)) attack {
	return attack{name, func(s *providerLogin) step {
		change(s.facebook.Debug, s.facebook.Me)
		return s.arrives()
	}}
}

// notAdopted signs in a user whose addresses are not verified.
func notAdopted(name string, emails ...map[string]any) attack {
	return attack{name, func(s *providerLogin) step {
		s.newUser()
		s.github.Emails = emails
		browser, r, back := s.begin()
		if id := claims(s.t, s.exchange(r, s.agree(browser, back.String())).ID); id["email"] != nil {
			s.t.Errorf("%s: the address %v is taken", name, id["email"])
		}
		return s.judged()
	}}
}

var byKind = map[string][]attack{
	providers.GitHub: {
		inside,
		api("wrong credentials with status 200", "/access_token", 200, map[string]any{
			"error":             "incorrect_client_credentials",
			"error_description": "eyJ",
		}),
		api(
			"a code that is wrong, with status 200", "/access_token", 200,
			map[string]any{"error": "bad_verification_code"},
		),
		api(
			"an address that is not verified, with status 200", "/access_token", 200,
			map[string]any{"error": "unverified_user_email"},
		),
		api("a token that was revoked", "/user", 401, map[string]any{"message": "Bad credentials"}),
		api("an API without calls left", "/user", 403, map[string]any{"message": "API rate limit exceeded"}),
		api("no user", "/user", 200, map[string]any{"login": "octocat"}),
		api("an id that is a text", "/user", 200, map[string]any{"id": "583231", "login": "octocat"}),
		api("a list of people", "/user", 200, []any{map[string]any{"id": 583231}}),
		notAdopted("an address that is not verified", map[string]any{
			"email":    "ana@example.com",
			"primary":  true,
			"verified": false,
		}),
		notAdopted("an address that is not the primary one", map[string]any{
			"email":    "ana@example.com",
			"primary":  false,
			"verified": true,
		}),
	},
	providers.Facebook: {
		book("a token of another app", func(debug, _ map[string]any) { debug["app_id"] = "another-app" }),
		book("a token of no app", func(debug, _ map[string]any) { delete(debug, "app_id") }),
		book("a token that has expired", func(debug, _ map[string]any) {
			debug["is_valid"], debug["expires_at"] = false, time.Now().Add(-time.Hour).Unix()
			debug["error"] = map[string]any{"code": 190, "subcode": 463, "message": "Session has expired"}
		}),
		book("a token that is not valid", func(debug, _ map[string]any) { delete(debug, "is_valid") }),
		book("a token of somebody else", func(debug, _ map[string]any) { debug["user_id"] = "999" }),
		book("no user", func(debug, me map[string]any) { delete(debug, "user_id"); delete(me, "id") }),
		api("an error with status 200", "/oauth/access_token", 200, map[string]any{"error": map[string]any{
			"message": "eyJ",
			"type":    "OAuthException",
			"code":    100,
		}}),
		api("debug_token that is down", "/debug_token", 500, nil),
		api("a person that is refused", "/me", 400, map[string]any{"error": map[string]any{"code": 190}}),
	},
	providers.Microsoft: {
		inside,
		claiming(
			"a tenant that is not the issuer's",
			func(c map[string]any) { c["tid"] = "aaaaaaaa-86f1-41af-91ab-2d7cd011db47" },
		),
		claiming("a tenant that is a path", func(c map[string]any) { c["tid"] = "../evil" }),
		claiming("no object id", func(c map[string]any) { delete(c, "oid") }),
	},
	providers.Google: {aboutSomebodyElse, claiming("no subject", func(c map[string]any) { delete(c, "sub") })},
	providers.Auth0:  {inside, aboutSomebodyElse},
	providers.OIDC:   {inside, aboutSomebodyElse},
}
