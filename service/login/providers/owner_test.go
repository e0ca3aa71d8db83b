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
	"postern/testkit/idp"
)

func TestOwner(t *testing.T) {
	for name, start := range every {
		t.Run(name, func(t *testing.T) {
			p := start(t)
			if got, err := p.owner(t, p.token); err != nil || got != p.want {
				t.Errorf("it is of %+v, want %+v: %v", got, p.want, err)
			}
			if !p.set.Recognizes(p.config, p.token, p.identity) || !p.set.Recognizes(p.config, p.garbage, p.identity) {
				t.Error("the provider's token is not recognized")
			}
			unsigned := map[string]any{"iss": p.fake.Issuer, "aud": idp.ClientID, "sub": "x"}
			for what, token := range map[string]string{
				"garbage of the same form": p.garbage,
				"nothing":                  "",
				"a line break":             "a\r\nb",
				"unsigned":                 idp.Unsigned(unsigned),
			} {
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

func TestOwner_failingProvider(t *testing.T) {
	target := idp.StartFake(t)
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { idp.Answer(w, code, map[string]any{}) }
	}
	text := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }
	}
	abort := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	for name, start := range every {
		for what, one := range map[string]struct {
			answer http.HandlerFunc
			want   error
		}{
			"fails":                 {status(500), tokencheck.ErrUnavailable},
			"is down":               {status(503), tokencheck.ErrUnavailable},
			"limits the rate":       {status(429), tokencheck.ErrUnavailable},
			"closes the connection": {abort, tokencheck.ErrUnavailable},
			"answers HTML":          {text("<html>"), tokencheck.ErrBadAnswer},
			"answers a list":        {text("[1]"), tokencheck.ErrBadAnswer},
			"answers too much":      {text(`{"a":"` + strings.Repeat("x", 1<<20) + `"}`), tokencheck.ErrBadAnswer},
			"redirects": {func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, target.URL+"/caught", http.StatusTemporaryRedirect)
			}, tokencheck.ErrBadAnswer},
			"does not know the app": {status(418), tokencheck.ErrBadAnswer},
		} {
			p := start(t)
			p.answering(one.answer)
			if p.path == "/keys" {
				one.want = tokencheck.ErrUnavailable // the keys cannot be fetched
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
	if n := target.Requests("/caught"); n != 0 {
		t.Errorf("a redirect was followed %d times", n)
	}
}

// Userinfo has the user of a token but not the app, so it is not asked.
func TestOwner_unverifiable(t *testing.T) {
	for _, kind := range []string{providers.OIDC, providers.Auth0} {
		s := kinds[kind](t)
		_, err := s.set.Owner(t.Context(), s.config, s.fake.Access, false)
		if !errors.Is(err, tokencheck.ErrUnverifiable) {
			t.Errorf("%s without introspection: %v", kind, err)
		}
		s.fake.Introspects = true
		s.fake.Verdict = unset("client_id")
		other := kinds[kind](t)
		other.fake.Introspects, other.fake.Verdict = true, unset("client_id")
		_, err = other.set.Owner(t.Context(), other.config, other.fake.Access, false)
		if !errors.Is(err, tokencheck.ErrUnverifiable) {
			t.Errorf("%s with an introspection that names no app: %v", kind, err)
		}
		if n := s.fake.Requests("/userinfo") + other.fake.Requests("/userinfo"); n != 0 {
			t.Errorf("%s: userinfo was asked %d times", kind, n)
		}
	}
	s := microsoft(t)
	if _, err := s.set.Owner(t.Context(), s.config, "EwBopaque", false); !errors.Is(err, tokencheck.ErrUnverifiable) {
		t.Errorf("a personal account: %v", err)
	}
}

// No error may quote a token: errors end in logs.
func TestGitHub_hiddenToken(t *testing.T) {
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
