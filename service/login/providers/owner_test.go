package providers_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"postern/service/login/providers"
	"postern/service/login/verdict"
	"postern/testkit/fakefacebook"
	"postern/testkit/fakegithub"
	"postern/testkit/fakegoogle"
	"postern/testkit/fakemicrosoft"
	"postern/testkit/fakeoidc"
)

// presented is one kind of token that a call can bring: whose it is, and where its
// provider is asked.
type presented struct {
	*stage
	token    string
	identity bool
	path     string // of the question
	want     providers.Person
	garbage  string // what has the looks of such a token and is none
}

// readable is the claims of an honest access token that can be read (RFC 9068).
func readable(fake *fakeoidc.Provider, change func(claims map[string]any)) string {
	claims := map[string]any{
		"iss":       fake.Issuer,
		"sub":       fake.Subject,
		"aud":       "https://api.example.com",
		"client_id": fakeoidc.ClientID,
		"exp":       time.Now().Add(time.Hour).Unix(),
	}
	if change != nil {
		change(claims)
	}
	return fake.Signed(claims)
}

// identified is the claims of an honest ID token.
func identified(fake *fakeoidc.Provider, change func(claims map[string]any)) string {
	claims := map[string]any{
		"iss": fake.Issuer,
		"sub": fake.Subject,
		"aud": fakeoidc.ClientID,
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

var microsoftPerson = fakemicrosoft.TenantID + "." + fakemicrosoft.ObjectID

func microsoft(t *testing.T) *stage {
	s := kinds[providers.Microsoft](t)
	s.set.MicrosoftSTS = fakemicrosoft.STS(s.fake)
	return s
}

func google(t *testing.T) *stage {
	fake := fakegoogle.Start(t)
	return &stage{
		fake:   fake,
		set:    &providers.Set{HTTP: guarded(t), GoogleURL: fake.URL, GoogleTokenInfo: fake.URL + "/tokeninfo"},
		config: configOf(providers.Google, ""),
	}
}

// every starts each kind with a token that is good.
var every = map[string]func(t *testing.T) *presented{
	"github": func(t *testing.T) *presented {
		fake := fakegithub.Start(t)
		s := &stage{
			fake:   fake.Provider,
			set:    &providers.Set{HTTP: guarded(t), GitHubURL: fake.URL, GitHubAPI: fake.URL},
			config: configOf(providers.GitHub, ""),
		}
		return &presented{
			stage:   s,
			token:   fake.Access,
			path:    "/applications/" + fakeoidc.ClientID + "/token",
			want:    providers.Person{Issuer: fake.URL, Subject: "583231"},
			garbage: "gho_garbage",
		}
	},
	"github enterprise": func(t *testing.T) *presented {
		fake := fakegithub.Start(t)
		s := &stage{
			fake:   fake.Provider,
			set:    &providers.Set{HTTP: guarded(t)},
			config: configOf(providers.GitHub, fake.URL),
		}
		return &presented{
			stage:   s,
			token:   fake.Access,
			path:    "/api/v3/applications/" + fakeoidc.ClientID + "/token",
			want:    providers.Person{Issuer: fake.URL, Subject: "583231"},
			garbage: "ghu_garbage",
		}
	},
	"google": func(t *testing.T) *presented {
		s := google(t)
		return &presented{
			stage:   s,
			token:   s.fake.Access,
			path:    "/tokeninfo",
			want:    providers.Person{Issuer: s.fake.URL, Subject: s.fake.Subject},
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
			want:     providers.Person{Issuer: s.fake.URL, Subject: s.fake.Subject},
			garbage:  stranger(s.fake),
		}
	},
	"facebook": func(t *testing.T) *presented {
		fake := fakefacebook.Start(t)
		s := &stage{
			fake:   fake.Provider,
			set:    &providers.Set{HTTP: guarded(t), FacebookURL: fake.URL, FacebookGraph: fake.URL},
			config: configOf(providers.Facebook, ""),
		}
		return &presented{
			stage:   s,
			token:   fake.Access,
			path:    "/v23.0/debug_token",
			want:    providers.Person{Issuer: fake.URL + "/" + fakeoidc.ClientID, Subject: "10158"},
			garbage: "EAAgarbage",
		}
	},
	"microsoft": func(t *testing.T) *presented {
		s := microsoft(t)
		return &presented{
			stage:   s,
			token:   s.fake.Access,
			path:    "/userinfo",
			want:    providers.Person{Issuer: s.fake.URL, Subject: microsoftPerson},
			garbage: fakemicrosoft.Access(s.fake, func(c map[string]any) { c["jti"] = "another" }),
		}
	},
	"microsoft, an API of its own": func(t *testing.T) *presented {
		s := microsoft(t)
		own := func(c map[string]any) {
			c["iss"], c["aud"], c["azp"], c["scp"] = s.fake.URL+"/"+fakemicrosoft.TenantID+"/v2.0", fakeoidc.ClientID, fakeoidc.ClientID, "access_as_user"
			delete(c, "appid")
		}
		return &presented{
			stage:   s,
			token:   fakemicrosoft.Access(s.fake, own),
			path:    "/keys",
			want:    providers.Person{Issuer: s.fake.URL, Subject: microsoftPerson},
			garbage: fakeoidc.Sign(strangerKey(), claimsOf(own)),
		}
	},
	"microsoft id": func(t *testing.T) *presented {
		s := microsoft(t)
		return &presented{
			stage:    s,
			token:    identified(s.fake, nil),
			identity: true,
			path:     "/keys",
			want:     providers.Person{Issuer: s.fake.URL, Subject: microsoftPerson},
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
			want:    providers.Person{Issuer: s.fake.URL, Subject: s.fake.Subject},
			garbage: "garbage",
		}
	},
	"oidc, readable": func(t *testing.T) *presented {
		s := plain(t, providers.OIDC)
		return &presented{
			stage:   s,
			token:   readable(s.fake, nil),
			path:    "/keys",
			want:    providers.Person{Issuer: s.fake.URL, Subject: s.fake.Subject},
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
			want:     providers.Person{Issuer: s.fake.URL, Subject: s.fake.Subject},
			garbage:  stranger(s.fake),
		}
	},
	"auth0": func(t *testing.T) *presented {
		s := kinds[providers.Auth0](t)
		return &presented{
			stage:   s,
			token:   readable(s.fake, func(c map[string]any) { c["azp"] = fakeoidc.ClientID; delete(c, "client_id") }),
			path:    "/keys",
			want:    providers.Person{Issuer: s.fake.Issuer, Subject: s.fake.Subject},
			garbage: stranger(s.fake),
		}
	},
}

func claimsOf(change func(map[string]any)) map[string]any {
	claims := map[string]any{
		"tid": fakemicrosoft.TenantID,
		"oid": fakemicrosoft.ObjectID,
		"exp": time.Now().Add(time.Hour).Unix(),
	}
	change(claims)
	return claims
}

// someKey is no provider's.
var someKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

func strangerKey() jose.SigningKey {
	return jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: someKey(), KeyID: fakeoidc.KeyID}}
}

// stranger is an honest ID token but for its signature.
func stranger(fake *fakeoidc.Provider) string {
	claims := map[string]any{
		"iss": fake.Issuer,
		"sub": fake.Subject,
		"aud": fakeoidc.ClientID,
		"azp": fakeoidc.ClientID,
		"exp": time.Now().Add(time.Hour).Unix(),
	}
	if fake.Claims != nil {
		fake.Claims(claims)
	}
	return fakeoidc.Sign(strangerKey(), claims)
}

func (p *presented) owner(t *testing.T, token string) (providers.Person, error) {
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

func TestWhoseATokenIs(t *testing.T) {
	for name, start := range every {
		t.Run(name, func(t *testing.T) {
			p := start(t)
			if got, err := p.owner(t, p.token); err != nil || got != p.want {
				t.Errorf("it is of %+v, want %+v: %v", got, p.want, err)
			}
			if !p.set.Recognizes(p.config, p.token, p.identity) || !p.set.Recognizes(p.config, p.garbage, p.identity) {
				t.Error("the provider's token is not recognized")
			}
			for what, token := range map[string]string{"garbage of its looks": p.garbage, "nothing": "", "a line break": "a\r\nb", "none": fakeoidc.Unsigned(map[string]any{"iss": p.fake.Issuer, "aud": fakeoidc.ClientID, "sub": "x"})} {
				if _, err := p.owner(t, token); !errors.Is(err, verdict.ErrRefused) {
					t.Errorf("%s: %v", what, err)
				}
			}
			p.config.ClientID = "another-app"
			if _, err := p.owner(t, p.token); err == nil || errors.Is(err, verdict.ErrAway) {
				t.Errorf("the token of another app: %v", err)
			}
		})
	}
}

func TestProvidersThatCannotBeAsked(t *testing.T) {
	elsewhere := fakeoidc.Start(t)
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { fakeoidc.Answer(w, code, map[string]any{}) }
	}
	for name, start := range every {
		for what, one := range map[string]struct {
			answer http.HandlerFunc
			want   error
		}{
			"fails":          {status(500), verdict.ErrAway},
			"is down":        {status(503), verdict.ErrAway},
			"has no time":    {status(429), verdict.ErrAway},
			"cuts the line":  {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, verdict.ErrAway},
			"answers HTML":   {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }, verdict.ErrNonsense},
			"answers a list": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("[1]")) }, verdict.ErrNonsense},
			"answers without end": {func(w http.ResponseWriter, _ *http.Request) {
				_, _ = w.Write([]byte(`{"a":"` + strings.Repeat("x", 1<<20) + `"}`))
			}, verdict.ErrNonsense},
			"sends us on": {func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, elsewhere.URL+"/caught", http.StatusTemporaryRedirect)
			}, verdict.ErrNonsense},
			"does not know our app": {status(418), verdict.ErrNonsense},
		} {
			p := start(t)
			p.answering(one.answer)
			if p.path == "/keys" {
				one.want = verdict.ErrAway // keys that cannot be had, for whatever reason
			}
			if _, err := p.owner(t, p.token); !errors.Is(err, one.want) {
				t.Errorf("%s: a provider that %s: %v, want %v", name, what, err, one.want)
			}
		}
		p := start(t)
		ctx, stop := context.WithCancel(t.Context())
		over := make(chan struct{})
		p.answering(func(http.ResponseWriter, *http.Request) { stop(); <-over })
		if _, err := p.set.Owner(ctx, p.config, p.token, p.identity); !errors.Is(err, verdict.ErrAway) {
			t.Errorf("%s: a provider that does not answer: %v", name, err)
		}
		close(over)
	}
	if n := elsewhere.Asked("/caught"); n != 0 {
		t.Errorf("a redirect was followed %d times", n)
	}
}

func TestTokensOfAnotherApp(t *testing.T) {
	tests := map[string]struct {
		of   string
		make func(p *presented) string
	}{
		"google, another aud": {
			"google",
			func(p *presented) string { p.fake.Verdict = set("aud", "another"); return p.token },
		},
		"google, another azp": {
			"google",
			func(p *presented) string { p.fake.Verdict = set("azp", "another"); return p.token },
		},
		"google, not to sign in": {
			"google",
			func(p *presented) string { p.fake.Verdict = unset("sub"); return p.token },
		},
		"google, an ID token's aud": {
			"google id",
			func(p *presented) string { return identified(p.fake, set("aud", "another")) },
		},
		"google, an ID token's azp": {
			"google id",
			func(p *presented) string { return identified(p.fake, set("azp", "another")) },
		},
		"google, an ID token that ends": {"google id", func(p *presented) string {
			return identified(p.fake, set("exp", time.Now().Add(-2*time.Minute).Unix()))
		}},
		"google, another's ID token": {
			"google id",
			func(p *presented) string { return identified(p.fake, set("iss", "https://evil.example")) },
		},
		"microsoft, another appid": {
			"microsoft",
			func(p *presented) string { return graph(p, set("appid", "another")) },
		},
		"microsoft, no appid":   {"microsoft", func(p *presented) string { return graph(p, unset("appid")) }},
		"microsoft, it is over": {"microsoft", func(p *presented) string { return graph(p, set("exp", 1)) }},
		"microsoft, no tid":     {"microsoft", func(p *presented) string { return graph(p, unset("tid")) }},
		"microsoft, no oid":     {"microsoft", func(p *presented) string { return graph(p, unset("oid")) }},
		"microsoft, iss is not tid's": {
			"microsoft",
			func(p *presented) string { return graph(p, set("tid", "00000000-0000-0000-0000-000000000001")) },
		},
		"microsoft, azp of another": {"microsoft, an API of its own", func(p *presented) string {
			return graph(p, func(c map[string]any) { c["aud"] = fakeoidc.ClientID; c["appid"] = "another" })
		}},
		"oidc, another client_id": {
			"oidc",
			func(p *presented) string { p.fake.Verdict = set("client_id", "another"); return p.token },
		},
		"oidc, another audience": {"oidc", func(p *presented) string {
			p.fake.Verdict = func(a map[string]any) { delete(a, "client_id"); a["aud"] = "another" }
			return p.token
		}},
		"oidc, another issuer": {
			"oidc",
			func(p *presented) string { p.fake.Verdict = set("iss", "https://evil.example"); return p.token },
		},
		"oidc, not active": {
			"oidc",
			func(p *presented) string { p.fake.Verdict = set("active", false); return p.token },
		},
		"oidc, a refresh token": {
			"oidc",
			func(p *presented) string { p.fake.Verdict = set("token_type", "Refresh"); return p.token },
		},
		"oidc, it is over": {"oidc", func(p *presented) string { p.fake.Verdict = set("exp", 1); return p.token }},
		"oidc, not yet": {"oidc", func(p *presented) string {
			p.fake.Verdict = set("nbf", time.Now().Add(time.Hour).Unix())
			return p.token
		}},
		"oidc, bound to a key": {
			"oidc",
			func(p *presented) string { p.fake.Verdict = set("cnf", map[string]any{"jkt": "x"}); return p.token },
		},
		"oidc, nobody's": {"oidc", func(p *presented) string { p.fake.Verdict = unset("sub"); return p.token }},
		"readable, another client_id": {"oidc, readable", func(p *presented) string {
			return readable(p.fake, func(c map[string]any) { c["client_id"] = "another"; c["aud"] = fakeoidc.ClientID })
		}},
		"readable, another azp": {"auth0", func(p *presented) string {
			return readable(
				p.fake,
				func(c map[string]any) { c["azp"] = "another"; c["aud"] = []string{fakeoidc.ClientID, "x"} },
			)
		}},
		"readable, nobody named": {
			"oidc, readable",
			func(p *presented) string { return readable(p.fake, unset("client_id")) },
		},
		"readable, it is over": {
			"oidc, readable",
			func(p *presented) string { return readable(p.fake, set("exp", 1)) },
		},
		"readable, without an end": {
			"oidc, readable",
			func(p *presented) string { return readable(p.fake, unset("exp")) },
		},
		"readable, bound to a key": {
			"oidc, readable",
			func(p *presented) string { return readable(p.fake, set("cnf", map[string]any{"jkt": "x"})) },
		},
		"readable, of another issuer": {
			"oidc, readable",
			func(p *presented) string { return readable(p.fake, set("iss", "https://evil.example")) },
		},
		"an access token, not an ID": {"oidc id", func(p *presented) string { return readable(p.fake, nil) }},
	}
	for name, one := range tests {
		p := every[one.of](t)
		if got, err := p.owner(t, one.make(p)); !errors.Is(err, verdict.ErrRefused) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	github := fakegithub.Start(t)
	github.Check["app"] = map[string]any{"client_id": "another"}
	facebook := fakefacebook.Start(t)
	facebook.Debug["type"] = "PAGE"
	set := &providers.Set{
		HTTP:          guarded(t),
		GitHubURL:     github.URL,
		GitHubAPI:     github.URL,
		FacebookURL:   facebook.URL,
		FacebookGraph: facebook.URL,
	}
	for kind, token := range map[string]string{providers.GitHub: github.Access, providers.Facebook: facebook.Access} {
		if _, err := set.Owner(t.Context(), configOf(kind, ""), token, false); !errors.Is(err, verdict.ErrRefused) {
			t.Errorf("%s: a token of another: %v", kind, err)
		}
	}
	facebook.Debug["type"], facebook.Debug["expires_at"] = "USER", time.Now().Add(-time.Minute).Unix()
	if _, err := set.Owner(t.Context(), configOf(providers.Facebook, ""), facebook.Access, false); !errors.Is(
		err, verdict.ErrRefused,
	) {
		t.Errorf("facebook: a token that is over: %v", err)
	}
	facebook.Debug["expires_at"], facebook.Debug["app_id"] = 0, "another"
	if _, err := set.Owner(t.Context(), configOf(providers.Facebook, ""), facebook.Access, false); !errors.Is(
		err, verdict.ErrRefused,
	) {
		t.Errorf("facebook: a token of another app: %v", err)
	}
}

func set(name string, value any) func(map[string]any) {
	return func(m map[string]any) { m[name] = value }
}

func unset(name string) func(map[string]any) { return func(m map[string]any) { delete(m, name) } }

// graph makes another token that Graph takes.
func graph(p *presented, change func(map[string]any)) string {
	p.fake.Access = fakemicrosoft.Access(p.fake, change)
	return p.fake.Access
}

// Userinfo would tell whose a token is and not for which app, so it is not asked.
func TestTokensThatNobodyCanVerify(t *testing.T) {
	for _, kind := range []string{providers.OIDC, providers.Auth0} {
		s := kinds[kind](t)
		if _, err := s.set.Owner(t.Context(), s.config, s.fake.Access, false); !errors.Is(
			err, verdict.ErrUnverifiable,
		) {
			t.Errorf("%s without introspection: %v", kind, err)
		}
		s.fake.Introspects = true
		s.fake.Verdict = unset("client_id")
		other := kinds[kind](t)
		other.fake.Introspects, other.fake.Verdict = true, unset("client_id")
		if _, err := other.set.Owner(t.Context(), other.config, other.fake.Access, false); !errors.Is(
			err, verdict.ErrUnverifiable,
		) {
			t.Errorf("%s with an introspection that names no app: %v", kind, err)
		}
		if n := s.fake.Asked("/userinfo") + other.fake.Asked("/userinfo"); n != 0 {
			t.Errorf("%s: userinfo was asked %d times", kind, n)
		}
	}
	s := microsoft(t)
	if _, err := s.set.Owner(t.Context(), s.config, "EwBopaque", false); !errors.Is(err, verdict.ErrUnverifiable) {
		t.Errorf("a personal account: %v", err)
	}
}

// No error may quote a token: errors end in logs.
func TestErrorsHoldNoToken(t *testing.T) {
	for name, start := range every {
		p := start(t)
		p.answering(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusBadGateway)
			_, _ = w.Write([]byte(r.URL.String() + r.Header.Get("Authorization")))
		})
		_, err := p.owner(t, p.token)
		if err == nil || strings.Contains(err.Error(), p.token) ||
			strings.Contains(err.Error(), url.QueryEscape(p.token)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
