package oidc_test

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/testkit/state"
)

// posted returns what a page posts to the application, and checks that it posts there alone, without an inline script.
func (s *app) posted(page step) url.Values {
	s.t.Helper()
	form := page.Find("form[method=post][data-back]")
	if form.Length() != 1 || form.Find("button").Length() != 1 || form.AttrOr("action", "") != callback {
		s.t.Fatalf("no form with a button posts to the application: %d %s", page.status, page.raw)
	}
	policy := page.header.Get("Content-Security-Policy")
	if !strings.Contains(policy, "form-action "+callback+";") || strings.Contains(policy, "unsafe-inline") {
		s.t.Errorf("the policy of the page is %s", policy)
	}
	if script := page.Find("script"); script.Length() != 1 || script.AttrOr("src", "") == "" {
		s.t.Errorf("the page has an inline script: %s", page.raw)
	}
	return formOf(page, "")
}

func TestFormPost_signIn(t *testing.T) {
	t.Parallel()
	b := newPKCELogin(t, contract.AppClientSettings{})
	browser := b.browser()
	const state = `"><script>alert(1)</script>`
	for _, turn := range []string{"with consent", "without"} {
		r := b.request("openid")
		r.query.Set("response_mode", "form_post")
		r.query.Set("state", state)
		page := b.get(browser, b.fake.Authorize(t, b.toProvider(browser, r, b.provider.ID).String()).String())
		if turn == "with consent" {
			page = b.post(browser, b.path("/consent"), formOf(page, "agree"))
		}
		got := b.posted(page)
		if got.Get("state") != state || got.Get("iss") != b.server.Login.Issuer(b.client.ID) || got.Has("error") {
			t.Errorf("%s: the application gets %v", turn, got)
		}
		if tokens := b.exchange(r, &url.URL{RawQuery: got.Encode()}); tokens.status != http.StatusOK {
			t.Errorf("%s: the code gives %+v", turn, tokens)
		}
	}
	r := b.request("openid")
	r.query.Set("response_mode", "form_post")
	r.query.Set("prompt", "none")
	if got := b.posted(b.get(browser, b.path("/authorize?"+r.query.Encode()))); got.Get("code") == "" {
		t.Errorf("prompt=none gives %v", got)
	}
}

func TestFormPost_errors(t *testing.T) {
	t.Parallel()
	b := newPKCELogin(t, contract.AppClientSettings{})
	r := b.request("openid")
	r.query.Set("response_mode", "form_post")
	r.query.Set("prompt", "none")
	got := b.posted(b.get(b.browser(), b.path("/authorize?"+r.query.Encode())))
	if got.Get("error") != "login_required" || got.Get("state") != "the state" {
		t.Errorf("the error of a request is %v", got)
	}
	r.query.Del("prompt")
	r.query.Del("response_mode")
	r.query.Del("state")
	r.query.Set("request", "eyJhbGciOiJub25lIn0."+base64.RawURLEncoding.EncodeToString(
		[]byte(`{"response_mode": "form_post", "state": "its own"}`))+".")
	got = b.posted(b.get(b.browser(), b.path("/authorize?"+r.query.Encode())))
	if got.Get("error") != "request_not_supported" || got.Get("state") != "its own" {
		t.Errorf("a request object gets %v", got)
	}
	r.query.Del("request")
	r.query.Set("response_mode", "form_post")
	browser := b.browser()
	page := b.get(browser, b.fake.Authorize(t, b.toProvider(browser, r, b.provider.ID).String()).String())
	got = b.posted(b.post(browser, b.path("/consent"), formOf(page, "decline")))
	if got.Get("error") != "access_denied" {
		t.Errorf("the error of a user who declines is %v", got)
	}
}

func TestFormPost_nativeApps(t *testing.T) {
	t.Parallel()
	b := newPKCELogin(t, contract.AppClientSettings{})
	const native = "com.example.app:/callback"
	uris := []string{native}
	if _, err := b.server.AppClients.UpdateClient(
		t.Context(), b.owner, contract.AppClientSettings{RedirectURIs: &uris}.Of(b.client.ID),
	); err != nil {
		t.Fatal(err)
	}
	r := b.request("openid")
	r.query.Set("response_mode", "form_post")
	r.query.Set("redirect_uri", native)
	got := b.get(b.browser(), b.path("/authorize?"+r.query.Encode()))
	if got.to == nil || got.to.Scheme != "com.example.app" || got.to.Query().Get("error") != "invalid_request" {
		t.Errorf("form_post to a native app answers %d %v", got.status, got.to)
	}
}

// crossPost posts a form as a browser does from another site: without the cookies, which are SameSite=Lax.
func (s *app) crossPost(path string, form url.Values) step {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", "https://appleid.apple.com")
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	return s.do(s.browser(), r)
}

func TestCallback_byPost(t *testing.T) {
	t.Parallel()
	b := newBoundLogin(t, state.OpenSQLite(t))
	change := contract.ProviderSettings{ResponseMode: new("form_post")}
	if _, err := b.server.AppClients.UpdateProvider(t.Context(), b.owner, change.Of(b.provider.ID)); err != nil {
		t.Fatal(err)
	}
	browser := b.browser()
	to := b.toProvider(browser, b.request("openid"), b.provider.ID)
	if mode := to.Query().Get("response_mode"); mode != "form_post" {
		t.Errorf("the provider is asked with the response mode %q", mode)
	}
	back := b.fake.Authorize(t, to.String())
	form := back.Query()
	form.Set("id_token", "secret")
	form.Set("user", `{"name": {}}`)
	got := b.crossPost(back.Path, form)
	if got.status != http.StatusSeeOther || got.to == nil || got.to.Path != back.Path || got.to.Host != back.Host {
		t.Fatalf("an answer by POST gets %d %v", got.status, got.to)
	}
	if q := got.to.Query(); q.Get("code") != back.Query().Get("code") || q.Has("id_token") || q.Has("user") {
		t.Errorf("the redirect has %v", q)
	}
	if b.agree(browser, got.to.String()).Query().Get("code") == "" {
		t.Error("the sign-in does not go on after an answer by POST")
	}
	form.Set("code", strings.Repeat("x", 10_000))
	if got := b.crossPost(back.Path, form); got.status != http.StatusRequestEntityTooLarge || got.to != nil {
		t.Errorf("a code of 10 KB gets %d %v", got.status, got.to)
	}
	form.Set("code", strings.Repeat("x", 100_000))
	if got := b.crossPost(back.Path, form); got.status != http.StatusRequestEntityTooLarge || got.to != nil {
		t.Errorf("a body of 100 KB gets %d %v", got.status, got.to)
	}
	if got := b.crossPost(b.path("/consent"), url.Values{}); got.status != http.StatusForbidden {
		t.Errorf("consent from another site gets %d", got.status)
	}
}
