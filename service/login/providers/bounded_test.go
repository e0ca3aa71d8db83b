package providers_test

import (
	"fmt"
	"strings"
	"testing"

	"postern/platform/fault"
	"postern/platform/federation"
	"postern/service/login/providers"
)

func TestComplete_boundsOfPerson(t *testing.T) {
	ana := federation.Identity{Subject: "subject-1", Email: "ana@example.com", EmailVerified: true, Name: "Ana"}
	named := func(name string) federation.Identity {
		p := ana
		p.Name = name
		return p
	}
	withoutEmail := ana
	withoutEmail.Email, withoutEmail.EmailVerified = "", false

	for _, c := range []struct {
		name, claim, value string
		want               federation.Identity
	}{
		{"name of 100 KB", "name", strings.Repeat("é", 50_000), named(strings.Repeat("é", 200))},
		{"name with U+0000", "name", "An\x00a", named("Ana")},
		{"name with an override of its direction", "name", "\u202eanA\n", named("anA")},
		{"address of 255 bytes", "email", strings.Repeat("a", 243) + "@example.com", withoutEmail},
		{"address with U+0000", "email", "ana\x00@example.com", withoutEmail},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := plain(t, providers.OIDC)
			s.fake.Claims = func(claims map[string]any) { claims[c.claim] = c.value }
			got, _, err := s.login(t)
			if err != nil {
				t.Fatal(err)
			}
			got.Issuer = ""
			if got != c.want {
				t.Errorf("person %.400s, want %.400s", fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", c.want))
			}
		})
	}

	for name, subject := range map[string]string{
		"subject with U+0000":  "subject\x00-1",
		"subject of 256 bytes": strings.Repeat("s", 256),
	} {
		t.Run(name, func(t *testing.T) {
			s := plain(t, providers.OIDC)
			s.fake.Claims = func(claims map[string]any) { claims["sub"] = subject }
			if _, _, err := s.login(t); fault.CodeOf(err) != "provider_answer_refused" {
				t.Errorf("%v, want provider_answer_refused", err)
			}
		})
	}
}
