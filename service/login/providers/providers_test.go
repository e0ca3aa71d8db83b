package providers_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"postern/platform/egress"
	"postern/platform/fault"
	"postern/service/login/providers"
	"postern/testkit/fakegoogle"
	"postern/testkit/fakemicrosoft"
	"postern/testkit/fakeoidc"
)

const callback = "https://postern.example/callback"

var sent = providers.Request{
	State:    "state",
	Nonce:    "the-nonce",
	Verifier: "a-verifier-of-at-least-forty-three-characters",
}

// stage is one kind of OpenID provider with its fake.
type stage struct {
	fake   *fakeoidc.Provider
	set    *providers.Set
	config providers.Config
}

// kinds starts each OpenID kind.
var kinds = map[string]func(t *testing.T) *stage{
	providers.OIDC: func(t *testing.T) *stage {
		return plain(t, providers.OIDC)
	},
	providers.Auth0: func(t *testing.T) *stage {
		s := plain(t, providers.Auth0)
		s.fake.Issuer += "/"
		s.config.Issuer = s.fake.Issuer
		return s
	},
	providers.Google: func(t *testing.T) *stage {
		fake := fakegoogle.Start(t)
		return &stage{
			fake:   fake,
			set:    &providers.Set{HTTP: guarded(t), GoogleURL: fake.URL},
			config: configOf(providers.Google, ""),
		}
	},
	providers.Microsoft: func(t *testing.T) *stage {
		fake := fakemicrosoft.Start(t)
		return &stage{
			fake:   fake,
			set:    &providers.Set{HTTP: guarded(t), MicrosoftURL: fake.URL},
			config: configOf(providers.Microsoft, ""),
		}
	},
}

func plain(t *testing.T, kind string) *stage {
	fake := fakeoidc.Start(t)
	return &stage{fake: fake, set: &providers.Set{HTTP: guarded(t)}, config: configOf(kind, fake.URL)}
}

func configOf(kind, issuer string) providers.Config {
	traits, _ := providers.TraitsOf(kind)
	return providers.Config{
		Type:         kind,
		ClientID:     fakeoidc.ClientID,
		ClientSecret: fakeoidc.ClientSecret,
		Issuer:       issuer,
		Scopes:       traits.Scopes,
		Callback:     callback,
	}
}

func guarded(t *testing.T) *http.Client {
	t.Helper()
	guard, err := egress.New(egress.Options{LoopbackAllowed: true})
	if err != nil {
		t.Fatal(err)
	}
	client := guard.Client()
	t.Cleanup(client.CloseIdleConnections)
	return client
}

// login goes from the authorization request to the person.
func (s *stage) login(t *testing.T) (providers.Person, providers.Tokens, error) {
	t.Helper()
	address, err := s.set.AuthorizeURL(t.Context(), s.config, sent)
	if err != nil {
		return providers.Person{}, providers.Tokens{}, err
	}
	back := s.fake.Authorize(t, address)
	return s.set.Complete(t.Context(), s.config, sent, providers.Callback{Code: back.Query().Get("code")})
}

func TestHonestOpenIDProviders(t *testing.T) {
	want := map[string]providers.Person{
		providers.OIDC:  {Subject: "subject-1", Email: "ana@example.com", EmailVerified: true, Name: "Ana"},
		providers.Auth0: {Subject: "subject-1", Email: "ana@example.com", EmailVerified: true, Name: "Ana"},
		providers.Google: {
			Subject:       "110169484474386276334",
			Email:         "ana@example.com",
			EmailVerified: true,
			Name:          "Ana",
		},
		providers.Microsoft: {
			Subject: fakemicrosoft.TenantID + "." + fakemicrosoft.ObjectID,
			Email:   "ana@example.com",
			Name:    "Ana",
		},
	}
	for kind, start := range kinds {
		t.Run(kind, func(t *testing.T) {
			s := start(t)
			person, tokens, err := s.login(t)
			if err != nil {
				t.Fatal(err)
			}
			if person.Issuer == "" {
				t.Error("the person has no issuer")
			}
			person.Issuer = ""
			if person != want[kind] {
				t.Errorf("it is %+v", person)
			}
			if tokens.Access.Reveal() != s.fake.Access || tokens.ID == "" ||
				time.Until(tokens.Expires) < 50*time.Minute {
				t.Errorf("the tokens are not those of the provider")
			}
		})
	}
}

// lie is one way in which an answer is not what it should be.
type lie struct {
	name string
	tell func(s *stage)
}

// claiming changes the claims of an otherwise honest ID token.
func claiming(name string, change func(claims map[string]any)) lie {
	return lie{name, func(s *stage) {
		honest := s.fake.Claims
		s.fake.Claims = func(claims map[string]any) {
			if honest != nil {
				honest(claims)
			}
			change(claims)
		}
	}}
}

func signing(name string, sign func(s *stage, claims map[string]any) string) lie {
	return lie{name, func(s *stage) {
		s.fake.Sign = func(claims map[string]any) string { return sign(s, claims) }
	}}
}

var lies = []lie{
	claiming("another nonce", func(c map[string]any) { c["nonce"] = "of another login" }),
	claiming("no nonce", func(c map[string]any) { delete(c, "nonce") }),
	claiming("another issuer", func(c map[string]any) { c["iss"] = "https://evil.example" }),
	claiming("no issuer", func(c map[string]any) { delete(c, "iss") }),
	claiming("another audience", func(c map[string]any) { c["aud"] = "another-client" }),
	claiming("several audiences without azp", func(c map[string]any) {
		c["aud"] = []string{fakeoidc.ClientID, "another-client"}
		delete(c, "azp")
	}),
	claiming("another authorized party", func(c map[string]any) { c["azp"] = "another-client" }),
	claiming("expired", func(c map[string]any) { c["exp"] = time.Now().Add(-time.Hour).Unix() }),
	claiming("no expiry", func(c map[string]any) { delete(c, "exp") }),
	claiming("of another access token", func(c map[string]any) { c["at_hash"] = "AAAAAAAAAAAAAAAAAAAAAA" }),
	signing("unsigned", func(_ *stage, c map[string]any) string { return fakeoidc.Unsigned(c) }),
	signing("HS256 with the public key", func(s *stage, c map[string]any) string {
		public, err := x509.MarshalPKIXPublicKey(s.fake.Key.Public())
		if err != nil {
			panic(err)
		}
		return fakeoidc.Sign(
			jose.SigningKey{Algorithm: jose.HS256, Key: jose.JSONWebKey{Key: public, KeyID: fakeoidc.KeyID}},
			c,
		)
	}),
	signing("HS256 with the client secret", func(_ *stage, c map[string]any) string {
		return fakeoidc.Sign(
			jose.SigningKey{Algorithm: jose.HS256, Key: []byte(fakeoidc.ClientSecret + strings.Repeat("x", 32))},
			c,
		)
	}),
	signing(
		"another key under the known id",
		func(_ *stage, c map[string]any) string { return fakeoidc.Sign(stolen(fakeoidc.KeyID), c) },
	),
	signing("an unknown key id", func(_ *stage, c map[string]any) string { return fakeoidc.Sign(stolen("key-2"), c) }),
	signing("nonsense", func(*stage, map[string]any) string { return "a.b.c" }),
	{"no ID token", func(s *stage) { s.fake.Token = func(answer map[string]any) { delete(answer, "id_token") } }},
	{"a document of another issuer", func(s *stage) {
		s.fake.Discovery = func(document map[string]any) { document["issuer"] = "https://evil.example" }
	}},
	{"a document of 2 MiB", func(s *stage) {
		s.fake.Discovery = func(document map[string]any) { document["padding"] = strings.Repeat("x", 2<<20) }
	}},
	{"a document elsewhere", func(s *stage) {
		s.fake.Serve = func(w http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, "openid-configuration") {
				http.Redirect(w, r, s.fake.URL+"/elsewhere", http.StatusFound)
				return true
			}
			return false
		}
	}},
	{"keys elsewhere", func(s *stage) {
		s.fake.Serve = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/keys" {
				http.Redirect(w, r, s.fake.URL+"/elsewhere", http.StatusFound)
				return true
			}
			return false
		}
	}},
	{"a token endpoint that is no address of the web", func(s *stage) {
		s.fake.Discovery = func(document map[string]any) { document["token_endpoint"] = "file:///etc/passwd" }
	}},
	{"an authorization endpoint that is a script", func(s *stage) {
		s.fake.Discovery = func(document map[string]any) { document["authorization_endpoint"] = "javascript:alert(1)" }
	}},
	{"keys inside", func(s *stage) {
		s.fake.Discovery = func(document map[string]any) { document["jwks_uri"] = "http://169.254.169.254/keys" }
	}},
	{"a token endpoint inside", func(s *stage) {
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

// byKind are the lies that only one kind can tell.
var byKind = map[string][]lie{
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
		claiming("userinfo about somebody else", func(c map[string]any) {
			delete(c, "email")
			c["sub"] = "somebody-else"
		}),
	},
}

func TestLiesOfOpenIDProvidersAreRefused(t *testing.T) {
	for kind, start := range kinds {
		for _, l := range append(lies, byKind[kind]...) {
			t.Run(kind+"/"+l.name, func(t *testing.T) {
				s := start(t)
				l.tell(s)
				person, tokens, err := s.login(t)
				if err == nil {
					t.Fatalf("taken for %+v", person)
				}
				if tokens.Access != "" || person.Subject != "" {
					t.Error("something comes with the refusal")
				}
				refusedQuietly(t, s.fake, err)
			})
		}
	}
}

// refusedQuietly holds an error to what whoever signs in may see, and a log.
func refusedQuietly(t *testing.T, fake *fakeoidc.Provider, err error) {
	t.Helper()
	if kind := fault.KindOf(err); kind != fault.Forbidden && kind != fault.Unavailable {
		t.Errorf("it is refused as %v: %v", kind, err)
	}
	for _, secret := range []string{fake.Access, "canary-refresh", fakeoidc.ClientSecret, "eyJ"} {
		if text := fmt.Sprintf("%v %+v %#v", err, err, err); strings.Contains(text, secret) {
			t.Errorf("the error holds %q: %s", secret, text)
		}
	}
}

// What is wrong on our side of the exchange, or was done before.
func TestCodesOfOpenIDProvidersCountOnce(t *testing.T) {
	for kind, start := range kinds {
		t.Run(kind, func(t *testing.T) {
			s := start(t)
			address, err := s.set.AuthorizeURL(t.Context(), s.config, sent)
			if err != nil {
				t.Fatal(err)
			}
			query, err := url.Parse(address)
			if err != nil || query.Query().Get("code_challenge_method") != "S256" ||
				query.Query().Get("state") != "state" ||
				query.Query().Get("nonce") != sent.Nonce {
				t.Fatalf("the authorization request is %s", address)
			}
			tries := map[string]func() error{
				"the code a second time": func() error {
					code := s.fake.Authorize(t, address).Query().Get("code")
					if _, _, err := s.set.Complete(t.Context(), s.config, sent, providers.Callback{Code: code}); err != nil {
						t.Fatal(err)
					}
					_, _, err := s.set.Complete(t.Context(), s.config, sent, providers.Callback{Code: code})
					return err
				},
				"another verifier": func() error {
					other := sent
					other.Verifier += "x"
					_, _, err := s.set.Complete(
						t.Context(), s.config, other,
						providers.Callback{Code: s.fake.Authorize(t, address).Query().Get("code")},
					)
					return err
				},
				"another callback": func() error {
					other := s.config
					other.Callback += "/other"
					_, _, err := s.set.Complete(
						t.Context(), other, sent,
						providers.Callback{Code: s.fake.Authorize(t, address).Query().Get("code")},
					)
					return err
				},
				"another client secret": func() error {
					other := s.config
					other.ClientSecret = "wrong"
					_, _, err := s.set.Complete(
						t.Context(), other, sent,
						providers.Callback{Code: s.fake.Authorize(t, address).Query().Get("code")},
					)
					return err
				},
				"an answer in another issuer's name": func() error {
					_, _, err := s.set.Complete(
						t.Context(),
						s.config,
						sent,
						providers.Callback{
							Code:   s.fake.Authorize(t, address).Query().Get("code"),
							Issuer: "https://evil.example",
						},
					)
					return err
				},
			}
			for name, try := range tries {
				if err := try(); err == nil {
					t.Errorf("%s is taken", name)
				} else {
					refusedQuietly(t, s.fake, err)
				}
			}
		})
	}
}

func TestEachKindIsToldToAskAgainInItsOwnWords(t *testing.T) {
	for kind, want := range map[string][3]string{ // for login, for the account, for both
		providers.OIDC:      {"prompt=login", "prompt=select_account", "prompt=login+select_account"},
		providers.Auth0:     {"prompt=login", "prompt=select_account", "prompt=login+select_account"},
		providers.Microsoft: {"prompt=login", "prompt=select_account", "prompt=login"},
		providers.Google:    {"prompt=select_account", "prompt=select_account", "prompt=select_account"},
		providers.GitHub:    {"prompt=select_account", "prompt=select_account", "prompt=select_account"},
		providers.Facebook:  {"auth_type=reauthenticate", "", "auth_type=reauthenticate"},
	} {
		s := &stage{set: &providers.Set{HTTP: guarded(t)}, config: configOf(kind, "")}
		if start := kinds[kind]; start != nil {
			s = start(t)
		}
		for i, again := range []providers.Again{{Login: true}, {Account: true}, {Login: true, Account: true}, {}} {
			asked := sent
			asked.Again = again
			address, err := s.set.AuthorizeURL(t.Context(), s.config, asked)
			if err != nil {
				t.Fatal(err)
			}
			u, err := url.Parse(address)
			if err != nil {
				t.Fatal(err)
			}
			got := url.Values{}
			for _, name := range []string{"prompt", "auth_type", "max_age"} {
				if u.Query().Has(name) {
					got.Set(name, u.Query().Get(name))
				}
			}
			if i < len(want) && got.Encode() != want[i] || i == len(want) && len(got) > 0 {
				t.Errorf("%s, %+v: %s", kind, again, got.Encode())
			}
		}
	}
}

// A provider that is away, or answers nonsense, is not asked by every call, and asked
// again soon.
func TestADocumentThatCannotBeHadIsAskedForSeldom(t *testing.T) {
	s := plain(t, providers.OIDC)
	s.fake.Discovery = func(document map[string]any) { document["issuer"] = "https://elsewhere.example" }
	for range 5 {
		if _, err := s.set.AuthorizeURL(t.Context(), s.config, sent); err == nil {
			t.Fatal("another issuer's document is taken")
		}
	}
	if asked := s.fake.Asked("/.well-known/openid-configuration"); asked != 1 {
		t.Errorf("it was asked %d times", asked)
	}
	s.fake.Discovery = nil
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		if _, err := s.set.AuthorizeURL(t.Context(), s.config, sent); err == nil {
			return
		} else if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}
