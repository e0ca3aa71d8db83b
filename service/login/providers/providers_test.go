package providers_test

import (
	"net/url"
	"testing"
	"time"

	"postern/platform/federation"
	"postern/service/login/providers"
	"postern/testkit"
	"postern/testkit/idp"
)

func TestComplete_honestOpenID(t *testing.T) {
	want := map[string]federation.Identity{
		providers.OIDC:  {Subject: "subject-1", Email: "ana@example.com", EmailVerified: true, Name: "Ana"},
		providers.Auth0: {Subject: "subject-1", Email: "ana@example.com", EmailVerified: true, Name: "Ana"},
		providers.Google: {
			Subject:       "110169484474386276334",
			Email:         "ana@example.com",
			EmailVerified: true,
			Name:          "Ana",
		},
		providers.Microsoft: {
			Subject: idp.MicrosoftTenantID + "." + idp.MicrosoftObjectID,
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

// Each exchange is refused for a parameter that differs from the authorization request.
func TestComplete_wrongExchange(t *testing.T) {
	tests := map[string]func(c *providers.Config, r *providers.Request, answer *providers.Response){
		"another verifier": func(_ *providers.Config, r *providers.Request, _ *providers.Response) {
			r.Verifier += "x"
		},
		"another callback": func(c *providers.Config, _ *providers.Request, _ *providers.Response) {
			c.RedirectURI += "/other"
		},
		"another client secret": func(c *providers.Config, _ *providers.Request, _ *providers.Response) {
			c.ClientSecret = "wrong"
		},
		"another issuer": func(_ *providers.Config, _ *providers.Request, answer *providers.Response) {
			answer.Issuer = "https://evil.example"
		},
	}
	for kind, start := range kinds {
		for name, change := range testkit.ByName(tests) {
			t.Run(kind+"/"+name, func(t *testing.T) {
				s := start(t)
				config, request := s.config, sent
				answer := providers.Response{Code: s.code(t)}
				change(&config, &request, &answer)
				_, _, err := s.set.Complete(t.Context(), config, request, answer)
				if err == nil {
					t.Fatal("it is accepted")
				}
				refusedQuietly(t, s.fake, err)
			})
		}
		t.Run(kind+"/the code a second time", func(t *testing.T) {
			s := start(t)
			answer := providers.Response{Code: s.code(t)}
			if _, _, err := s.set.Complete(t.Context(), s.config, sent, answer); err != nil {
				t.Fatal(err)
			}
			_, _, err := s.set.Complete(t.Context(), s.config, sent, answer)
			if err == nil {
				t.Fatal("it is accepted")
			}
			refusedQuietly(t, s.fake, err)
		})
	}
}

// code signs in at the provider and returns the code that it sends.
func (s *stage) code(t *testing.T) string {
	t.Helper()
	address, err := s.set.AuthorizeURL(t.Context(), s.config, sent)
	if err != nil {
		t.Fatal(err)
	}
	return s.fake.Authorize(t, address).Query().Get("code")
}

func TestAuthorizeURL_request(t *testing.T) {
	for kind, start := range kinds {
		t.Run(kind, func(t *testing.T) {
			s := start(t)
			address, err := s.set.AuthorizeURL(t.Context(), s.config, sent)
			if err != nil {
				t.Fatal(err)
			}
			u, err := url.Parse(address)
			if err != nil {
				t.Fatal(err)
			}
			for name, want := range map[string]string{
				"code_challenge_method": "S256",
				"state":                 sent.State,
				"nonce":                 sent.Nonce,
			} {
				if got := u.Query().Get(name); got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
		})
	}
}

func TestAuthorizeURL_prompt(t *testing.T) {
	for kind, want := range map[string][3]string{ // for login, for the account, for both
		providers.OIDC: {
			"max_age=0&prompt=login", "prompt=select_account", "max_age=0&prompt=login+select_account",
		},
		providers.Auth0: {
			"max_age=0&prompt=login", "prompt=select_account", "max_age=0&prompt=login+select_account",
		},
		providers.Microsoft: {"prompt=login", "prompt=select_account", "prompt=login"},
		providers.Google:    {"prompt=select_account", "prompt=select_account", "prompt=select_account"},
		providers.GitHub:    {"prompt=select_account", "prompt=select_account", "prompt=select_account"},
		providers.Facebook:  {"auth_type=reauthenticate", "", "auth_type=reauthenticate"},
	} {
		s := &stage{set: &providers.Set{HTTP: guarded(t)}, config: configOf(kind, "")}
		if start := kinds[kind]; start != nil {
			s = start(t)
		}
		prompts := []providers.Prompt{{Login: true}, {SelectAccount: true}, {Login: true, SelectAccount: true}, {}}
		for i, prompt := range prompts {
			asked := sent
			asked.Prompt = prompt
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
				t.Errorf("%s, %+v: %s", kind, prompt, got.Encode())
			}
		}
	}
}

// Each kind gets the hints that it documents, and none of the others.
func TestAuthorizeURL_hints(t *testing.T) {
	age := int64(60)
	for kind, want := range map[string]string{
		providers.OIDC:      "acr_values=gold&login_hint=ana&max_age=60&ui_locales=de",
		providers.Auth0:     "acr_values=gold&login_hint=ana&max_age=60&ui_locales=de",
		providers.Microsoft: "login_hint=ana&prompt=login",
		providers.Google:    "login_hint=ana",
		providers.GitHub:    "login=ana",
		providers.Facebook:  "",
	} {
		t.Run(kind, func(t *testing.T) {
			s := &stage{set: &providers.Set{HTTP: guarded(t)}, config: configOf(kind, "")}
			if start := kinds[kind]; start != nil {
				s = start(t)
			}
			asked := sent
			asked.MaxAge, asked.ACRValues, asked.LoginHint, asked.UILocales = &age, "gold", "ana", "de"
			address, err := s.set.AuthorizeURL(t.Context(), s.config, asked)
			if err != nil {
				t.Fatal(err)
			}
			u, err := url.Parse(address)
			if err != nil {
				t.Fatal(err)
			}
			got := u.Query()
			for _, usual := range []string{
				"client_id", "code_challenge", "code_challenge_method", "nonce", "redirect_uri", "response_type",
				"scope", "state",
			} {
				got.Del(usual)
			}
			if got.Encode() != want {
				t.Errorf("got %s, want %s", got.Encode(), want)
			}
		})
	}
}

func TestAuthorizeURL_audience(t *testing.T) {
	s := kinds[providers.Auth0](t)
	for _, audience := range []string{"", "https://api.example.com/?a=b&c"} {
		s.config.Audience = audience
		address, err := s.set.AuthorizeURL(t.Context(), s.config, sent)
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if got := u.Query().Get("audience"); got != audience || u.Query().Has("audience") != (audience != "") {
			t.Errorf("audience is %q, want %q", got, audience)
		}
	}
}

// A provider that is down or answers nonsense is not asked on every call, but soon again.
func TestDiscovery_cachedFailure(t *testing.T) {
	s := plain(t, providers.OIDC)
	s.fake.Discovery = func(document map[string]any) { document["issuer"] = "https://elsewhere.example" }
	for range 5 {
		if _, err := s.set.AuthorizeURL(t.Context(), s.config, sent); err == nil {
			t.Fatal("another issuer's document is taken")
		}
	}
	if asked := s.fake.Requests("/.well-known/openid-configuration"); asked != 1 {
		t.Errorf("it was asked %d times", asked)
	}
	s.fake.Discovery = nil
	testkit.Await(t, "the provider to be asked again", func() (error, bool) {
		_, err := s.set.AuthorizeURL(t.Context(), s.config, sent)
		return err, err == nil
	})
}
