package oidc_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/testkit"
	"postern/testkit/state"
)

func withoutPKCE(r request) request {
	r.query.Del("code_challenge")
	r.query.Del("code_challenge_method")
	r.verifier = ""
	return r
}

// signInAs goes through an honest login with a request.
func (b boundLogin) signInAs(r request) *url.URL {
	b.t.Helper()
	browser := b.browser()
	return b.agree(browser, b.fake.Authorize(b.t, b.toProvider(browser, r, b.provider.ID).String()).String())
}

func newPKCELogin(t *testing.T, in contract.AppClientSettings) boundLogin {
	t.Helper()
	b := boundLogin{app: newLoginApp(t, state.OpenSQLite(t), in)}
	b.fake, b.provider = b.offerFake()
	return b
}

func whenSent() contract.AppClientSettings {
	confidential, pkce := true, contract.PKCEWhenSent
	return contract.AppClientSettings{Confidential: &confidential, PKCE: &pkce}
}

func TestAuthorize_pkceRequired(t *testing.T) {
	t.Parallel()
	confidential := true
	b := newPKCELogin(t, contract.AppClientSettings{Confidential: &confidential})
	got := b.get(b.browser(), b.path("/authorize?"+withoutPKCE(b.request("openid")).query.Encode()))
	b.leadsBack("a confidential client without a challenge", got, "invalid_request")
	if text := got.to.Query().Get("error_description"); !strings.Contains(text, "--pkce when_sent") {
		t.Errorf("the error does not say what to switch on: %s", text)
	}
}

func TestToken_pkceWhenSent(t *testing.T) {
	t.Parallel()
	b := newPKCELogin(t, whenSent())
	for name, tt := range testkit.ByName(map[string]struct {
		challenge bool
		verifier  func(request) string
		code      string // the error, "" for tokens
	}{
		"neither":                        {verifier: func(request) string { return "" }},
		"both":                           {challenge: true, verifier: func(r request) string { return r.verifier }},
		"a challenge without a verifier": {true, func(request) string { return "" }, "invalid_grant"},
		"another verifier": {true, func(r request) string { return r.verifier[1:] + "x" },
			"invalid_grant"},
		"a verifier without a challenge": {false, func(r request) string { return r.verifier }, "invalid_grant"},
	}) {
		r := b.request("openid")
		verifier := tt.verifier(r)
		if !tt.challenge {
			r = withoutPKCE(r)
		}
		r.verifier = verifier
		if got := b.exchange(r, b.signInAs(r)); got.Error != tt.code || (got.ID == "") != (tt.code != "") {
			t.Errorf("%s: %+v, want the error %q", name, got, tt.code)
		}
	}
	for name, change := range testkit.ByName(map[string]func(url.Values){
		"a challenge without its method": func(q url.Values) { q.Del("code_challenge_method") },
		"a method without a challenge":   func(q url.Values) { q.Del("code_challenge") },
		"PKCE plain":                     func(q url.Values) { q.Set("code_challenge_method", "plain") },
	}) {
		r := b.request("openid")
		change(r.query)
		b.leadsBack(name, b.get(b.browser(), b.path("/authorize?"+r.query.Encode())), "invalid_request")
	}
}

// TestToken_pkceRequiredLater checks that codes without a challenge end with the setting that allowed them.
func TestToken_pkceRequiredLater(t *testing.T) {
	t.Parallel()
	b := newPKCELogin(t, whenSent())
	required := contract.PKCERequired
	r := withoutPKCE(b.request("openid"))
	back := b.signInAs(r)
	if _, err := b.server.AppClients.UpdateClient(
		t.Context(), b.owner, contract.AppClientSettings{PKCE: &required}.Of(b.client.ID),
	); err != nil {
		t.Fatal(err)
	}
	if got := b.exchange(r, back); got.status != http.StatusBadRequest || got.Error != "invalid_grant" {
		t.Errorf("a code without a challenge gives %+v after PKCE became required", got)
	}
}
