package providers_test

import (
	"crypto/rand"
	"crypto/rsa"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"postern/platform/federation"
	"postern/service/login/providers"
	"postern/testkit/idp"
)

// presented is one kind of token that a call can bring: whose it is, and where its
// provider is asked.
type presented struct {
	*stage
	token    string
	identity bool
	path     string // of the question
	want     federation.Identity
	garbage  string // looks like such a token, but is not one
}

// readable is the claims of an honest access token that can be read (RFC 9068).
func readable(fake *idp.Fake, change func(claims map[string]any)) string {
	claims := map[string]any{
		"iss":       fake.Issuer,
		"sub":       fake.Subject,
		"aud":       "https://api.example.com",
		"client_id": idp.ClientID,
		"exp":       time.Now().Add(time.Hour).Unix(),
	}
	if change != nil {
		change(claims)
	}
	return fake.Signed(claims)
}

// identified is the claims of an honest ID token.
func identified(fake *idp.Fake, change func(claims map[string]any)) string {
	claims := map[string]any{
		"iss": fake.Issuer,
		"sub": fake.Subject,
		"aud": idp.ClientID,
		"exp": time.Now().Add(time.Hour).Unix(),
	}
	if fake.Claims != nil {
		fake.Claims(claims)
	}
	if change != nil {
		change(claims)
	}
	return fake.Signed(claims)
}

var microsoftPerson = idp.MicrosoftTenantID + "." + idp.MicrosoftObjectID

func microsoft(t *testing.T) *stage {
	s := kinds[providers.Microsoft](t)
	s.set.MicrosoftSTS = idp.MicrosoftSTS(s.fake)
	return s
}

func google(t *testing.T) *stage {
	fake := idp.StartGoogle(t)
	return &stage{
		fake:   fake,
		set:    &providers.Set{HTTP: guarded(t), GoogleURL: fake.URL, GoogleTokenInfo: fake.URL + "/tokeninfo"},
		config: configOf(providers.Google, ""),
	}
}

// every starts each kind with a token that is good.
var every = map[string]func(t *testing.T) *presented{
	"github": func(t *testing.T) *presented {
		fake := idp.StartGitHub(t)
		s := &stage{
			fake:   fake.Fake,
			set:    &providers.Set{HTTP: guarded(t), GitHubURL: fake.URL, GitHubAPI: fake.URL},
			config: configOf(providers.GitHub, ""),
		}
		return &presented{
			stage:   s,
			token:   fake.Access,
			path:    "/applications/" + idp.ClientID + "/token",
			want:    federation.Identity{Issuer: fake.URL, Subject: "583231"},
			garbage: "gho_garbage",
		}
	},
	"github enterprise": func(t *testing.T) *presented {
		fake := idp.StartGitHub(t)
		s := &stage{
			fake:   fake.Fake,
			set:    &providers.Set{HTTP: guarded(t)},
			config: configOf(providers.GitHub, fake.URL),
		}
		return &presented{
			stage:   s,
			token:   fake.Access,
			path:    "/api/v3/applications/" + idp.ClientID + "/token",
			want:    federation.Identity{Issuer: fake.URL, Subject: "583231"},
			garbage: "ghu_garbage",
		}
	},
	"google": func(t *testing.T) *presented {
		s := google(t)
		return &presented{
			stage:   s,
			token:   s.fake.Access,
			path:    "/tokeninfo",
			want:    federation.Identity{Issuer: s.fake.URL, Subject: s.fake.Subject},
			garbage: "ya29.garbage",
		}
	},
	"google id": func(t *testing.T) *presented {
		s := google(t)
		return &presented{
			stage:    s,
			token:    identified(s.fake, nil),
			identity: true,
			path:     "/keys",
			want:     federation.Identity{Issuer: s.fake.URL, Subject: s.fake.Subject},
			garbage:  stranger(s.fake),
		}
	},
	"facebook": func(t *testing.T) *presented {
		fake := idp.StartFacebook(t)
		s := &stage{
			fake:   fake.Fake,
			set:    &providers.Set{HTTP: guarded(t), FacebookURL: fake.URL, FacebookGraph: fake.URL},
			config: configOf(providers.Facebook, ""),
		}
		return &presented{
			stage:   s,
			token:   fake.Access,
			path:    "/v23.0/debug_token",
			want:    federation.Identity{Issuer: fake.URL + "/" + idp.ClientID, Subject: "10158"},
			garbage: "EAAgarbage",
		}
	},
	"microsoft": func(t *testing.T) *presented {
		s := microsoft(t)
		return &presented{
			stage:   s,
			token:   s.fake.Access,
			path:    "/userinfo",
			want:    federation.Identity{Issuer: s.fake.URL, Subject: microsoftPerson},
			garbage: idp.MicrosoftAccess(s.fake, func(c map[string]any) { c["jti"] = "another" }),
		}
	},
	"microsoft, its own API": func(t *testing.T) *presented {
		s := microsoft(t)
		own := func(c map[string]any) {
			c["iss"] = s.fake.URL + "/" + idp.MicrosoftTenantID + "/v2.0"
			c["aud"], c["azp"], c["scp"] = idp.ClientID, idp.ClientID, "access_as_user"
			delete(c, "appid")
		}
		return &presented{
			stage:   s,
			token:   idp.MicrosoftAccess(s.fake, own),
			path:    "/keys",
			want:    federation.Identity{Issuer: s.fake.URL, Subject: microsoftPerson},
			garbage: idp.Sign(strangerKey(), claimsOf(own)),
		}
	},
	"microsoft id": func(t *testing.T) *presented {
		s := microsoft(t)
		return &presented{
			stage:    s,
			token:    identified(s.fake, nil),
			identity: true,
			path:     "/keys",
			want:     federation.Identity{Issuer: s.fake.URL, Subject: microsoftPerson},
			garbage:  stranger(s.fake),
		}
	},
	"oidc": func(t *testing.T) *presented {
		s := plain(t, providers.OIDC)
		s.fake.Introspects = true
		return &presented{
			stage:   s,
			token:   s.fake.Access,
			path:    "/introspect",
			want:    federation.Identity{Issuer: s.fake.URL, Subject: s.fake.Subject},
			garbage: "garbage",
		}
	},
	"oidc, readable": func(t *testing.T) *presented {
		s := plain(t, providers.OIDC)
		return &presented{
			stage:   s,
			token:   readable(s.fake, nil),
			path:    "/keys",
			want:    federation.Identity{Issuer: s.fake.URL, Subject: s.fake.Subject},
			garbage: stranger(s.fake),
		}
	},
	"oidc id": func(t *testing.T) *presented {
		s := plain(t, providers.OIDC)
		return &presented{
			stage:    s,
			token:    identified(s.fake, nil),
			identity: true,
			path:     "/keys",
			want:     federation.Identity{Issuer: s.fake.URL, Subject: s.fake.Subject},
			garbage:  stranger(s.fake),
		}
	},
	"auth0": func(t *testing.T) *presented {
		s := kinds[providers.Auth0](t)
		return &presented{
			stage:   s,
			token:   readable(s.fake, func(c map[string]any) { c["azp"] = idp.ClientID; delete(c, "client_id") }),
			path:    "/keys",
			want:    federation.Identity{Issuer: s.fake.Issuer, Subject: s.fake.Subject},
			garbage: stranger(s.fake),
		}
	},
}

func claimsOf(change func(map[string]any)) map[string]any {
	claims := map[string]any{
		"tid": idp.MicrosoftTenantID,
		"oid": idp.MicrosoftObjectID,
		"exp": time.Now().Add(time.Hour).Unix(),
	}
	change(claims)
	return claims
}

// someKey is a key that no provider uses.
var someKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

func strangerKey() jose.SigningKey {
	return jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: someKey(), KeyID: idp.KeyID}}
}

// stranger returns an ID token that is valid except for its signature.
func stranger(fake *idp.Fake) string {
	claims := map[string]any{
		"iss": fake.Issuer,
		"sub": fake.Subject,
		"aud": idp.ClientID,
		"azp": idp.ClientID,
		"exp": time.Now().Add(time.Hour).Unix(),
	}
	if fake.Claims != nil {
		fake.Claims(claims)
	}
	return idp.Sign(strangerKey(), claims)
}

func (p *presented) owner(t *testing.T, token string) (federation.Identity, error) {
	t.Helper()
	return p.set.Owner(t.Context(), p.config, token, p.identity)
}

// answering has the question about the token answered in another way.
func (p *presented) answering(answer http.HandlerFunc) {
	honest := p.fake.Serve
	p.fake.Serve = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == p.path {
			answer(w, r)
			return true
		}
		return honest != nil && honest(w, r)
	}
}
