package oidc_test

import (
	"strings"
	"testing"

	"postern/service/login/providers"
	"postern/testkit/state"
)

// Facebook adds #_=_ to the callback's address. Browsers keep a fragment through redirects, except to an address that
// has one.
func TestFacebook_fragment(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	for kind, want := range map[string]bool{providers.Facebook: true, providers.OIDC: false} {
		s := newProviderLogin(t, db, kind)
		s.pristine()
		browser := s.browser()
		to := s.toProvider(browser, s.request("openid"), s.provider.ID)
		s.agree(browser, s.fake.Authorize(t, to.String()).String())
		r := s.request("openid")
		r.query.Set("prompt", "select_account")
		back := s.fake.Authorize(t, s.toProvider(browser, r, s.provider.ID).String()).String()
		for _, what := range []string{"a second sign-in", "a reload of it"} {
			to := s.get(browser, back).header.Get("Location")
			if !strings.HasPrefix(to, callback+"?") || strings.HasSuffix(to, "#") != want {
				t.Errorf("%s, %s: redirected to %s; want an empty fragment: %t", kind, what, to, want)
			}
		}
	}
}
