package oidc_test

import (
	"net/http"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/testkit/state"
)

// declare says for which mail domains a provider is authoritative.
func (s *app) declare(provider contract.Provider, domains ...string) {
	s.t.Helper()
	in := contract.ProviderSettings{AuthoritativeDomains: &domains}
	if _, err := s.server.AppClients.UpdateProvider(s.t.Context(), s.owner, in.Of(provider.ID)); err != nil {
		s.t.Fatal(err)
	}
}

// An approval by domain counts only while the provider is declared authoritative for it,
// though it has verified the address.
func TestApprovalByDomain(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newLoginApp(t, db, contract.AppClientSettings{})
	fake, provider := s.offerFake()
	policy := contract.SignupPolicyUpdate{
		TenantPath: contract.TenantPath{Tenant: s.tenant}, Body: contract.SignupPolicyChange{InviteOnly: new(true)},
	}
	if _, err := s.server.Directory.UpdateSignupPolicy(t.Context(), s.owner, policy); err != nil {
		t.Fatal(err)
	}
	approval := contract.NewApproval{Value: "example.com"}.In(s.tenant)
	if _, err := s.server.Directory.CreateApproval(t.Context(), s.owner, approval); err != nil {
		t.Fatal(err)
	}
	arrive := func() step {
		browser := s.browser()
		back := fake.Authorize(t, s.toProvider(browser, s.request("openid"), provider.ID).String())
		return s.get(browser, back.String())
	}
	page := arrive()
	if page.status != http.StatusForbidden || !strings.Contains(page.Text(), "Only invited users") {
		t.Errorf("before it is declared: %d %s", page.status, page.Find("main").Text())
	}
	s.declare(provider, "example.com")
	if page := arrive(); page.status != http.StatusOK || page.Find("form").Length() == 0 {
		t.Errorf("once it is declared: %d %s", page.status, page.Find("main").Text())
	}
	s.declare(provider)
	if page := arrive(); page.status != http.StatusForbidden {
		t.Errorf("once it is no longer declared: %d %s", page.status, page.Find("main").Text())
	}
}
