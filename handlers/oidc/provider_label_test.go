package oidc_test

import (
	"strings"
	"testing"

	"postern/core/contract"
	"postern/platform/fault"
	"postern/testkit/idp"
	"postern/testkit/state"
)

// A label of the team's own takes the place of the kind's name, as text.
func TestProvider_label(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newLoginApp(t, db, contract.AppClientSettings{})
	_, provider := s.offerFake()
	name, secret := idp.ClientID, contract.Secret(idp.ClientSecret)
	s.offer(contract.NewProvider{
		Type:             "github",
		ProviderSettings: contract.ProviderSettings{ClientID: &name, ClientSecret: &secret},
	})
	set := func(label string) error {
		in := contract.ProviderSettings{Label: &label}
		_, err := s.server.AppClients.UpdateProvider(t.Context(), s.owner, in.Of(provider.ID))
		return err
	}
	shown := func() string {
		r := s.request("openid")
		return s.get(s.browser(), s.path("/authorize?"+r.query.Encode())).Find("a[href$='/" + provider.ID + "']").
			Text()
	}
	if err := set(" Acme <b>SSO</b> "); err != nil {
		t.Fatal(err)
	}
	if text := shown(); !strings.Contains(text, "Continue with Acme <b>SSO</b>") {
		t.Errorf("the button says %q", text)
	}
	if err := set(""); err != nil {
		t.Fatal(err)
	}
	if text := shown(); strings.Contains(text, "Acme") || !strings.Contains(text, "127.0.0.1") {
		t.Errorf("without a label the button says %q, want the issuer's host", text)
	}
	for _, wrong := range []string{strings.Repeat("ä", 61), "a\nb", "a\u202eb", "\xff"} {
		if got := fault.CodeOf(set(wrong)); got != "invalid_label" && got != "invalid_fields" {
			t.Errorf("%.10q: %s", wrong, got)
		}
	}
	if err := set(strings.Repeat("ä", 60)); err != nil {
		t.Errorf("60 characters: %v", err)
	}
}

// In an unclaimed workspace, anyone may have written the label, so that the button names the issuer's host.
func TestProvider_labelUnclaimed(t *testing.T) {
	t.Parallel()
	s, _, claim := newUnclaimedApp(t, state.OpenSQLite(t))
	s.server.AppClients.CapUnclaimed = false // which allows issuers on port 443 only
	_, provider := s.offerFake()
	s.server.AppClients.CapUnclaimed = true
	label := "Google"
	in := contract.ProviderSettings{Label: &label}
	if _, err := s.server.AppClients.UpdateProvider(t.Context(), s.owner, in.Of(provider.ID)); err != nil {
		t.Fatal(err)
	}
	shown := func() string {
		page := s.get(s.browser(), s.path("/authorize?"+s.request("openid").query.Encode()))
		return page.Find("a[href$='/" + provider.ID + "']").Text()
	}
	if text := shown(); !strings.Contains(text, "Continue with 127.0.0.1") || strings.Contains(text, label) {
		t.Errorf("while it is unclaimed, the button says %q", text)
	}
	claim()
	if text := shown(); !strings.Contains(text, "Continue with Google") {
		t.Errorf("once it is claimed, the button says %q", text)
	}
}
