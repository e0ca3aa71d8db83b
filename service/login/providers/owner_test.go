package providers_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"postern/service/login/providers"
	"postern/service/login/tokencheck"
	"postern/testkit/fakeoidc"
)

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
				if _, err := p.owner(t, token); !errors.Is(err, tokencheck.ErrRefused) {
					t.Errorf("%s: %v", what, err)
				}
			}
			p.config.ClientID = "another-app"
			if _, err := p.owner(t, p.token); err == nil || errors.Is(err, tokencheck.ErrUnavailable) {
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
			"fails":          {status(500), tokencheck.ErrUnavailable},
			"is down":        {status(503), tokencheck.ErrUnavailable},
			"has no time":    {status(429), tokencheck.ErrUnavailable},
			"cuts the line":  {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, tokencheck.ErrUnavailable},
			"answers HTML":   {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }, tokencheck.ErrBadAnswer},
			"answers a list": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("[1]")) }, tokencheck.ErrBadAnswer},
			"answers without end": {func(w http.ResponseWriter, _ *http.Request) {
				_, _ = w.Write([]byte(`{"a":"` + strings.Repeat("x", 1<<20) + `"}`))
			}, tokencheck.ErrBadAnswer},
			"sends us on": {func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, elsewhere.URL+"/caught", http.StatusTemporaryRedirect)
			}, tokencheck.ErrBadAnswer},
			"does not know our app": {status(418), tokencheck.ErrBadAnswer},
		} {
			p := start(t)
			p.answering(one.answer)
			if p.path == "/keys" {
				one.want = tokencheck.ErrUnavailable // keys that cannot be had, for whatever reason
			}
			if _, err := p.owner(t, p.token); !errors.Is(err, one.want) {
				t.Errorf("%s: a provider that %s: %v, want %v", name, what, err, one.want)
			}
		}
		p := start(t)
		ctx, stop := context.WithCancel(t.Context())
		over := make(chan struct{})
		p.answering(func(http.ResponseWriter, *http.Request) { stop(); <-over })
		if _, err := p.set.Owner(ctx, p.config, p.token, p.identity); !errors.Is(err, tokencheck.ErrUnavailable) {
			t.Errorf("%s: a provider that does not answer: %v", name, err)
		}
		close(over)
	}
	if n := elsewhere.Asked("/caught"); n != 0 {
		t.Errorf("a redirect was followed %d times", n)
	}
}

// Userinfo would tell whose a token is and not for which app, so it is not asked.
func TestTokensThatNobodyCanVerify(t *testing.T) {
	for _, kind := range []string{providers.OIDC, providers.Auth0} {
		s := kinds[kind](t)
		if _, err := s.set.Owner(t.Context(), s.config, s.fake.Access, false); !errors.Is(
			err, tokencheck.ErrUnverifiable,
		) {
			t.Errorf("%s without introspection: %v", kind, err)
		}
		s.fake.Introspects = true
		s.fake.Verdict = unset("client_id")
		other := kinds[kind](t)
		other.fake.Introspects, other.fake.Verdict = true, unset("client_id")
		if _, err := other.set.Owner(t.Context(), other.config, other.fake.Access, false); !errors.Is(
			err, tokencheck.ErrUnverifiable,
		) {
			t.Errorf("%s with an introspection that names no app: %v", kind, err)
		}
		if n := s.fake.Asked("/userinfo") + other.fake.Asked("/userinfo"); n != 0 {
			t.Errorf("%s: userinfo was asked %d times", kind, n)
		}
	}
	s := microsoft(t)
	if _, err := s.set.Owner(t.Context(), s.config, "EwBopaque", false); !errors.Is(err, tokencheck.ErrUnverifiable) {
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
