package providers_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"postern/platform/fault"
	"postern/service/login/providers"
	"postern/testkit/idp"
)

// forgery is one way in which an answer differs from an honest one.
type forgery struct {
	name string
	tell func(s *stage)
}

// claiming changes the claims of an otherwise honest ID token.
func claiming(name string, change func(claims map[string]any)) forgery {
	return forgery{name, func(s *stage) {
		honest := s.fake.Claims
		s.fake.Claims = func(claims map[string]any) {
			if honest != nil {
				honest(claims)
			}
			change(claims)
		}
	}}
}

func signing(name string, sign func(s *stage, claims map[string]any) string) forgery {
	return forgery{name, func(s *stage) {
		s.fake.Sign = func(claims map[string]any) string { return sign(s, claims) }
	}}
}

var forgeries = []forgery{
	claiming("another nonce", func(c map[string]any) { c["nonce"] = "of another login" }),
	claiming("no nonce", func(c map[string]any) { delete(c, "nonce") }),
	claiming("another issuer", func(c map[string]any) { c["iss"] = "https://evil.example" }),
	claiming("no issuer", func(c map[string]any) { delete(c, "iss") }),
	claiming("another audience", func(c map[string]any) { c["aud"] = "another-client" }),
	claiming("several audiences without azp", func(c map[string]any) {
		c["aud"] = []string{idp.ClientID, "another-client"}
		delete(c, "azp")
	}),
	claiming("another authorized party", func(c map[string]any) { c["azp"] = "another-client" }),
	claiming("expired", func(c map[string]any) { c["exp"] = time.Now().Add(-time.Hour).Unix() }),
	claiming("no expiry", func(c map[string]any) { delete(c, "exp") }),
	claiming("of another access token", func(c map[string]any) { c["at_hash"] = "AAAAAAAAAAAAAAAAAAAAAA" }),
	signing("unsigned", func(_ *stage, c map[string]any) string { return idp.Unsigned(c) }),
	signing("HS256 with the public key", func(s *stage, c map[string]any) string {
		public, err := x509.MarshalPKIXPublicKey(s.fake.Key.Public())
		if err != nil {
			panic(err)
		}
		return idp.Sign(
			jose.SigningKey{Algorithm: jose.HS256, Key: jose.JSONWebKey{Key: public, KeyID: idp.KeyID}},
			c,
		)
	}),
	signing("HS256 with the client secret", func(_ *stage, c map[string]any) string {
		return idp.Sign(
			jose.SigningKey{Algorithm: jose.HS256, Key: []byte(idp.ClientSecret + strings.Repeat("x", 32))},
			c,
		)
	}),
	signing(
		"another key under the known id",
		func(_ *stage, c map[string]any) string { return idp.Sign(stolen(idp.KeyID), c) },
	),
	signing("an unknown key id", func(_ *stage, c map[string]any) string { return idp.Sign(stolen("key-2"), c) }),
	signing("nonsense", func(*stage, map[string]any) string { return "a.b.c" }),
	{"no ID token", func(s *stage) { s.fake.Token = func(answer map[string]any) { delete(answer, "id_token") } }},
	{"a document of another issuer", func(s *stage) {
		s.fake.Discovery = func(document map[string]any) { document["issuer"] = "https://evil.example" }
	}},
	{"a document of 2 MiB", func(s *stage) {
		s.fake.Discovery = func(document map[string]any) { document["padding"] = strings.Repeat("x", 2<<20) }
	}},
	{"a redirected document", func(s *stage) {
		s.fake.Serve = func(w http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, "openid-configuration") {
				http.Redirect(w, r, s.fake.URL+"/elsewhere", http.StatusFound)
				return true
			}
			return false
		}
	}},
	{"redirected keys", func(s *stage) {
		s.fake.Serve = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/keys" {
				http.Redirect(w, r, s.fake.URL+"/elsewhere", http.StatusFound)
				return true
			}
			return false
		}
	}},
	{"a token endpoint that is not a web address", func(s *stage) {
		s.fake.Discovery = func(document map[string]any) { document["token_endpoint"] = "file:///etc/passwd" }
	}},
	{"an authorization endpoint that is a script", func(s *stage) {
		s.fake.Discovery = func(document map[string]any) { document["authorization_endpoint"] = "javascript:alert(1)" }
	}},
	{"keys at an internal address", func(s *stage) {
		s.fake.Discovery = func(document map[string]any) { document["jwks_uri"] = "http://169.254.169.254/keys" }
	}},
	{"a token endpoint at an internal address", func(s *stage) {
		s.fake.Discovery = func(document map[string]any) { document["token_endpoint"] = "http://169.254.169.254/token" }
	}},
}

func stolen(id string) jose.SigningKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: key, KeyID: id}}
}

// byKind are the forgeries for one kind only.
var byKind = map[string][]forgery{
	providers.Microsoft: {
		claiming(
			"a tenant that is not the issuer's",
			func(c map[string]any) { c["tid"] = "aaaaaaaa-86f1-41af-91ab-2d7cd011db47" },
		),
		claiming("a tenant that is a path", func(c map[string]any) { c["tid"] = "../evil" }),
		claiming("no object id", func(c map[string]any) { delete(c, "oid") }),
	},
	providers.Google: {claiming("no subject", func(c map[string]any) { delete(c, "sub") })},
	providers.OIDC: {
		claiming("a subject of 256 characters", func(c map[string]any) { c["sub"] = strings.Repeat("x", 256) }),
		claiming("userinfo about another user", func(c map[string]any) {
			delete(c, "email")
			c["sub"] = "somebody-else"
		}),
	},
}

func TestComplete_forged(t *testing.T) {
	for kind, start := range kinds {
		for _, l := range slices.Concat(forgeries, byKind[kind]) {
			t.Run(kind+"/"+l.name, func(t *testing.T) {
				s := start(t)
				l.tell(s)
				person, tokens, err := s.login(t)
				if err == nil {
					t.Fatalf("taken for %+v", person)
				}
				if tokens.Access != "" || person.Subject != "" {
					t.Error("tokens or a subject come with the error")
				}
				refusedQuietly(t, s.fake, err)
			})
		}
	}
}

// refusedQuietly checks that an error refuses a sign-in without quoting secrets.
func refusedQuietly(t *testing.T, fake *idp.Fake, err error) {
	t.Helper()
	if kind := fault.KindOf(err); kind != fault.Forbidden && kind != fault.Unavailable {
		t.Errorf("it is refused as %v: %v", kind, err)
	}
	for _, secret := range []string{fake.Access, "canary-refresh", idp.ClientSecret, "eyJ"} {
		if text := fmt.Sprintf("%v %+v %#v", err, err, err); strings.Contains(text, secret) {
			t.Errorf("the error holds %q: %s", secret, text)
		}
	}
}
