package oidc_test

import (
	"strings"
	"testing"

	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/service/login"
	"postern/testkit/fakeoidc"
	"postern/testkit/state"
)

// A label of the team's own takes the place of the kind's name, as text.
func TestProvider_label(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newLoginApp(t, db, login.ClientInput{})
	_, provider := s.offerFake(nil)
	name, secret := fakeoidc.ClientID, secrets.Secret(fakeoidc.ClientSecret)
	s.offer(login.ProviderInput{Type: "github", ClientID: &name, ClientSecret: &secret})
	set := func(label string) error {
		in := login.ProviderInput{Label: &label}
		_, err := s.server.Login.UpdateProvider(t.Context(), s.owner, provider.ID, "", in)
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
