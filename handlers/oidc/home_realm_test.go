package oidc_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/testkit/idp"
	"postern/testkit/state"
)

// leadingTo sets the mail domains that lead to a provider.
func (s *app) leadingTo(provider string, domains ...string) error {
	s.t.Helper()
	in := contract.ProviderSettings{SignInDomains: &domains}
	_, err := s.server.AppClients.UpdateProvider(s.t.Context(), s.owner, in.Of(provider))
	return err
}

// The domain of an email address leads to a provider: that which is typed, and that of
// login_hint.
func TestHomeRealm(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newLoginApp(t, db, contract.AppClientSettings{})
		fake, provider := s.offerFake()
		name, secret := idp.ClientID, contract.Secret(idp.ClientSecret)
		s.offer(contract.NewProvider{
			Type:             "github",
			ProviderSettings: contract.ProviderSettings{ClientID: &name, ClientSecret: &secret},
		})
		start := func(hint, prompt string) (*http.Client, step) {
			browser, r := s.browser(), s.request("openid")
			r.query.Set("login_hint", hint)
			r.query.Set("prompt", prompt)
			return browser, s.get(browser, s.path("/authorize?"+r.query.Encode()))
		}
		if _, page := start("ana@example.com", ""); page.Find("form[data-address]").Length() != 0 || page.to != nil {
			t.Errorf("without sign-in domains: %d to %v, want the buttons alone", page.status, page.to)
		}
		if err := s.leadingTo(provider.ID, " @Example.com", "münchen.example"); err != nil {
			t.Fatal(err)
		}
		for hint, straight := range map[string]bool{
			"ana@example.com": true, "Ana@EXAMPLE.com": true, "ana@münchen.example": true,
			"ana@xn--mnchen-3ya.example": true,
			"ana@sub.example.com":        false, "ana@example.com.evil.example": false, "example.com": false,
			"@example.com":       false,
			"ana@github.example": false, "": false,
		} {
			_, page := start(hint, "")
			if went := page.to != nil && strings.HasPrefix(page.to.String(), fake.Issuer); went != straight {
				t.Errorf("login_hint %q: %d to %v, want straight on: %v", hint, page.status, page.to, straight)
			}
			if straight && page.to.Query().Get("login_hint") != hint {
				t.Errorf("the provider gets the hint %q", page.to.Query().Get("login_hint"))
			}
		}
		if _, page := start("ana@example.com", "select_account"); page.to != nil {
			t.Errorf("select_account goes on to %v", page.to)
		}
		s.typesAddress(start, fake)
	})
}

// typesAddress enters addresses on the page.
func (s *app) typesAddress(start func(hint, prompt string) (*http.Client, step), fake *idp.Fake) {
	s.t.Helper()
	browser, page := start("", "")
	action := page.Find("form[data-address]").AttrOr("action", "")
	if n := page.Find("a[data-provider]").Length(); n != 2 || action == "" {
		s.t.Fatalf("the page has %d buttons and the form %q", n, action)
	}
	for address, says := range map[string]string{
		"ana@other.example": "No sign-in provider is set up",
		"ana":               "Enter an email address",
		"":                  "Enter an email address",
		"ana\n@example.com": "Enter an email address",
		strings.Repeat("a", 500) + "@example.com": "Enter an email address",
	} {
		refused := s.post(browser, action, url.Values{"email": {address}})
		if refused.status != http.StatusUnprocessableEntity ||
			!strings.Contains(refused.Find("[role=alert]").Text(), says) {
			s.t.Errorf("%.20q: %d %s", address, refused.status, refused.Find("main").Text())
		}
		kept := refused.Find("#email").AttrOr("value", "")
		if address != "" && !strings.Contains(address, "\n") && kept != address {
			s.t.Errorf("%.20q: the field has %q", address, kept)
		}
		if n := refused.Find("a[data-provider]").Length(); n != 2 {
			s.t.Errorf("%.20q: %d buttons", address, n)
		}
	}
	on := s.post(browser, action, url.Values{"email": {" Ana@Example.com "}})
	if on.to == nil || !strings.HasPrefix(on.to.String(), fake.Issuer) {
		s.t.Fatalf("%d to %v: %s", on.status, on.to, on.Find("main").Text())
	}
	if got := on.to.Query().Get("login_hint"); got != "Ana@Example.com" {
		s.t.Errorf("the provider gets the hint %q", got)
	}
	if again := s.post(browser, action, url.Values{"email": {"ana@example.com"}}); again.to == nil {
		s.t.Errorf("sent twice: %d", again.status)
	}
	other := s.post(s.browser(), action, url.Values{"email": {"ana@example.com"}})
	if other.status != http.StatusForbidden {
		s.t.Errorf("another browser: %d", other.status)
	}
}

// The form's answer may end at the application, where the provider asks nothing: form-action
// lets the redirects through to every kind of redirect URI.
func TestHomeRealm_nativeApp(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newLoginApp(t, db, contract.AppClientSettings{})
	_, provider := s.offerFake()
	name, secret := idp.ClientID, contract.Secret(idp.ClientSecret)
	s.offer(contract.NewProvider{
		Type:             "github",
		ProviderSettings: contract.ProviderSettings{ClientID: &name, ClientSecret: &secret},
	})
	if err := s.leadingTo(provider.ID, "example.com"); err != nil {
		t.Fatal(err)
	}
	uris := []string{"com.example.app:/oauth2redirect", "http://[::1]/callback"}
	change := contract.AppClientSettings{RedirectURIs: &uris}
	if _, err := s.server.AppClients.UpdateClient(t.Context(), s.owner, change.Of(s.client.ID)); err != nil {
		t.Fatal(err)
	}
	for uri, source := range map[string]string{uris[0]: " com.example.app:", uris[1]: " http:"} {
		r := s.request("openid")
		r.query.Set("redirect_uri", uri)
		page := s.get(s.browser(), s.path("/authorize?"+r.query.Encode()))
		_, targets, _ := strings.Cut(page.header.Get("Content-Security-Policy"), "form-action ")
		targets, _, _ = strings.Cut(targets, ";")
		if !strings.HasSuffix(targets, source) {
			t.Errorf("%s: form-action %s, want%s", uri, targets, source)
		}
	}
}

// A domain leads to one provider of an app client, also where two are saved at once.
func TestHomeRealm_conflicts(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newLoginApp(t, db, contract.AppClientSettings{})
	_, first := s.offerFake()
	name, secret := idp.ClientID, contract.Secret(idp.ClientSecret)
	second := s.offer(contract.NewProvider{
		Type:             "github",
		ProviderSettings: contract.ProviderSettings{ClientID: &name, ClientSecret: &secret},
	})
	if err := s.leadingTo(first.ID, "example.com"); err != nil {
		t.Fatal(err)
	}
	err := s.leadingTo(second.ID, "other.example", "EXAMPLE.com")
	failure, ok := errors.AsType[*fault.Error](err)
	if !ok || len(failure.Fields) != 1 || failure.Fields[0].Pointer != "/sign_in_domains/1" ||
		failure.Code != "domain_taken" {
		t.Errorf("a domain of the other provider: %v", err)
	}
	for _, wrong := range []string{"localhost", "a b.example", "*.example.com", "ana@example.com",
		"-.example", ""} {
		if err := s.leadingTo(first.ID, wrong); err == nil {
			t.Errorf("%q is taken for a domain", wrong)
		}
	}
	var wait sync.WaitGroup
	var mu sync.Mutex
	saved := 0
	for _, id := range []string{first.ID, second.ID} {
		wait.Go(func() {
			if s.leadingTo(id, "both.example") == nil {
				mu.Lock()
				saved++
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	if saved != 1 {
		t.Errorf("%d of two providers got the domain, want one", saved)
	}
}
