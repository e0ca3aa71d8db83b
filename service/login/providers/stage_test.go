package providers_test

import (
	"net/http"
	"testing"

	"postern/platform/egress"
	"postern/platform/federation"
	"postern/service/login/providers"
	"postern/testkit/idp"
)

const callback = "https://postern.example/callback"

var sent = providers.Request{
	State:    "state",
	Nonce:    "the-nonce",
	Verifier: "a-verifier-of-at-least-forty-three-characters",
}

// stage is one kind of OpenID provider with its fake.
type stage struct {
	fake   *idp.Fake
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
		fake := idp.StartGoogle(t)
		return &stage{
			fake:   fake,
			set:    &providers.Set{HTTP: guarded(t), GoogleURL: fake.URL},
			config: configOf(providers.Google, ""),
		}
	},
	providers.Microsoft: func(t *testing.T) *stage {
		fake := idp.StartMicrosoft(t)
		return &stage{
			fake:   fake,
			set:    &providers.Set{HTTP: guarded(t), MicrosoftURL: fake.URL},
			config: configOf(providers.Microsoft, ""),
		}
	},
}

func plain(t *testing.T, kind string) *stage {
	fake := idp.StartFake(t)
	return &stage{fake: fake, set: &providers.Set{HTTP: guarded(t)}, config: configOf(kind, fake.URL)}
}

func configOf(kind, issuer string) providers.Config {
	traits, _ := providers.TraitsOf(kind)
	return providers.Config{
		Type:         kind,
		ClientID:     idp.ClientID,
		ClientSecret: idp.ClientSecret,
		Issuer:       issuer,
		Scopes:       traits.Scopes,
		RedirectURI:  callback,
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
func (s *stage) login(t *testing.T) (federation.Identity, providers.Tokens, error) {
	t.Helper()
	address, err := s.set.AuthorizeURL(t.Context(), s.config, sent)
	if err != nil {
		return federation.Identity{}, providers.Tokens{}, err
	}
	back := s.fake.Authorize(t, address)
	return s.set.Complete(t.Context(), s.config, sent, providers.Response{Code: back.Query().Get("code")})
}
