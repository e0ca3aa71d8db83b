package bearer_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"postern/core/diagnosis"
	"postern/core/snapshot"
	"postern/gateway/bearer"
	"postern/platform/egress"
	"postern/testkit"
	"postern/testkit/reports"
)

func TestInspect(t *testing.T) {
	of, v := newIssuer(t, keyOf(jose.RS256, "r"), keyOf(jose.ES256, "e")), newVerifier(t)
	got := v.Inspect(t.Context(), of.Pair(), "", now)
	reports.WantStep(t, got, "discovery", diagnosis.Pass, of.URL+"/jwks.json")
	reports.WantStep(t, got, "keys", diagnosis.Pass, "2 of 2 keys can verify tokens. Algorithms: RS256, ES256.")
	reports.WantStep(t, got, "cache", diagnosis.Skip, "The gateway hasn't needed the keys yet")
	if len(got.Keys) != 2 || got.Keys[0] != (diagnosis.Key{ID: "r", Type: "RSA 2048", Algorithm: "RS256"}) {
		t.Errorf("keys %+v", got.Keys)
	}
	t.Run("keys with an address of their own", func(t *testing.T) {
		pair := snapshot.TokenIssuer{Issuer: "https://nowhere.invalid", Audience: audience,
			JWKSURL: of.URL + "/jwks.json"}
		got := v.Inspect(t.Context(), pair, "", now)
		reports.WantStep(t, got, "discovery", diagnosis.Skip, "")
		reports.WantStep(t, got, "keys", diagnosis.Pass, "")
	})
	t.Run("keys in use", func(t *testing.T) {
		verify(v, keyOf(jose.RS256, "r").Sign(t, nil, of.Claims()), now, of.Pair())
		reports.WantStep(t, v.Inspect(t.Context(), of.Pair(), "", now), "cache", diagnosis.Pass, "2026-11-20T12:00:00Z")
	})
}

// TestInspect_hostile has issuers that answer with anything but their document and keys.
func TestInspect_hostile(t *testing.T) {
	answer := func(path, body string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != path {
				return false
			}
			fmt.Fprint(w, strings.ReplaceAll(body, "ISSUER", "http://"+r.Host))
			return true
		}
	}
	const document, keys = "/.well-known/openid-configuration", "/jwks.json"
	for name, tt := range testkit.ByName(map[string]struct {
		lie        func(http.ResponseWriter, *http.Request) bool
		step, text string
	}{
		"HTML": {answer(document, "<!doctype html><title>secret page</title>"), "discovery", "expected JSON"},
		"another issuer": {answer(document, `{"issuer":"https://evil.example"}`),
			"discovery", `"https://evil.example"`},
		"keys at a file": {answer(document, `{"issuer":"ISSUER","jwks_uri":"file:///etc/passwd"}`), "discovery",
			"isn't an https URL"},
		"keys at another port": {answer(document, `{"issuer":"ISSUER","jwks_uri":"http://127.0.0.1:6379/"}`),
			"discovery",
			"isn't 80, 443 or the issuer's port"},
		"a document without end": {answer(document, strings.Repeat("a", 600<<10)), "discovery", "longer than 512 KiB"},
		"a redirect": {func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, "http://169.254.169.254/", http.StatusFound)
			return true
		}, "discovery", "which isn't followed"},
		"a redirect to itself": {func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
			return true
		}, "discovery", "which isn't followed"},
		"no keys":           {answer(keys, `{"keys":[]}`), "keys", "None of the 0 keys"},
		"a symmetric key":   {answer(keys, `{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}`), "keys", "None of the 1 keys"},
		"keys that are one": {answer(keys, `{"keys":{}}`), "keys", "expected JSON"},
	}) {
		t.Run(name, func(t *testing.T) {
			of := newIssuer(t, keyOf(jose.RS256, "r"))
			of.AnswerWith(tt.lie)
			got := newVerifier(t).Inspect(t.Context(), of.Pair(), "", now)
			reports.WantStep(t, got, tt.step, diagnosis.Fail, tt.text)
			if text := fmt.Sprint(got); strings.Contains(text, "secret") {
				t.Errorf("the report quotes the answer: %s", text)
			}
		})
	}
	t.Run("didn't respond", func(t *testing.T) {
		of := newIssuer(t)
		done := make(chan struct{})
		t.Cleanup(func() { close(done) })
		of.AnswerWith(func(http.ResponseWriter, *http.Request) bool { <-done; return true })
		got := newVerifier(t).Inspect(t.Context(), of.Pair(), "", now)
		reports.WantStep(t, got, "discovery", diagnosis.Fail, "didn't respond in time")
	})
	t.Run("a private address", func(t *testing.T) {
		guard, err := egress.New(egress.Options{})
		if err != nil {
			t.Fatal(err)
		}
		v := bearer.New(guard.Client(), slog.New(slog.DiscardHandler))
		t.Cleanup(v.Close)
		got := v.Inspect(t.Context(), snapshot.TokenIssuer{Issuer: "http://10.0.0.1", Audience: "a"}, "", now)
		reports.WantStep(t, got, "discovery", diagnosis.Fail, "that isn't allowed")
	})
}

// TestInspect_token says of each token the same as Verify, and why.
func TestInspect_token(t *testing.T) {
	f := newForgery(t)
	v := newVerifier(t)
	for name, tt := range map[string]struct{ token, text string }{
		"another issuer":   {f.rs.Sign(t, nil, f.of.Claims(with("iss", f.of.URL+"/"))), "They must match exactly"},
		"another audience": {f.rs.Sign(t, nil, f.of.Claims(with("aud", "other"))), `aud is "other"`},
		"expired": {f.rs.Sign(t, nil, f.of.Claims(with("exp", now.Unix()-3600))), "expired at " +
			"2026-11-20T11:00:00Z"},
		"no exp":         {f.rs.Sign(t, nil, f.of.Claims(with("exp", nil))), "no exp"},
		"too early":      {f.rs.Sign(t, nil, f.of.Claims(with("nbf", now.Unix()+600))), "It isn't valid before"},
		"no sub":         {f.rs.Sign(t, nil, f.of.Claims(with("sub", nil))), "sub is missing"},
		"an unknown key": {f.forger.Sign(t, nil, f.of.Claims()), `the kid "forger"`},
		"another's key":  {keyAs("r", jose.RS256, f.forger).Sign(t, nil, f.of.Claims()), "signature isn't valid"},
		"HS256":          {hmacToken(f.of, []byte("k")), `alg is "HS256"`},

		"another typ": {f.rs.Sign(t, map[jose.HeaderKey]any{"typ": "logout+jwt"}, f.of.Claims()),
			`typ is "logout+jwt"`},
		"crit":   {critical(f.rs, f.of), "crit"},
		"opaque": {"gho_16C7e42F292c6912E7710c838347Ae178B4a", "isn't a JSON Web Token"},
		"huge":   {strings.Repeat("a", 20<<10), "isn't a JSON Web Token"},
	} {
		t.Run(name, func(t *testing.T) {
			got := v.Inspect(t.Context(), f.of.Pair(), tt.token, now)
			reports.WantStep(t, got, "token", diagnosis.Fail, tt.text)
			reports.WantStep(t, got, "decision", diagnosis.Fail, "401 invalid_token")
			if strings.Contains(fmt.Sprint(got), tt.token) {
				t.Error("the report has the token")
			}
		})
	}
	t.Run("good", func(t *testing.T) {
		got := v.Inspect(t.Context(), f.of.Pair(), f.good, now)
		reports.WantStep(t, got, "token", diagnosis.Pass, `for the key "r"`)
		reports.WantStep(t, got, "decision", diagnosis.Pass, `accepts the token of the user "alice"`)
	})
	for subject, tokens := range map[string]map[string]string{
		"signature": f.signatures(t), "header": f.headers(t), "form": f.forms(t),
	} {
		for name, token := range tokens {
			if token == "" {
				continue // the decision is not asked for
			}
			t.Run(subject+"/"+name, func(t *testing.T) {
				got := v.Inspect(t.Context(), f.of.Pair(), token, now)
				reports.WantStep(t, got, "token", diagnosis.Fail, "")
				reports.WantStep(t, got, "decision", diagnosis.Fail, "401 invalid_token")
			})
		}
	}
}
