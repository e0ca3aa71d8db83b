package providers_test

import (
	"testing"

	"postern/service/login/providers"
	"postern/testkit/idp"
)

const personal = "9188040d-6c67-4c5b-b112-36a304b66dad"

// ofTenant turns a stage of Microsoft's into one of a single tenant, whose own domain document it serves.
func ofTenant(t *testing.T) *stage {
	t.Helper()
	s := kinds[providers.Microsoft](t)
	s.fake.Base = "/" + idp.MicrosoftTenantID + "/v2.0"
	s.fake.Issuer = s.fake.URL + s.fake.Base
	s.config.Issuer = s.fake.Issuer
	return s
}

// TestComplete_domain: for which domain a provider is authoritative. Google's hd is in
// developers.google.com/identity/siwg/verify-google-id-token, Microsoft's xms_edov, acct and
// idp are in learn.microsoft.com/entra/identity-platform/optional-claims-reference.
func TestComplete_domain(t *testing.T) {
	tests := []struct {
		name     string
		start    func(t *testing.T) *stage
		domains  []string // declared
		claims   map[string]any
		domain   string
		verified bool
	}{
		{"Google, a Workspace account", kinds[providers.Google], nil,
			map[string]any{"hd": "Example.com"}, "example.com", true},
		{"Google, another Google account", kinds[providers.Google], nil, nil, "", true},
		{"Google, of another domain", kinds[providers.Google], nil, map[string]any{"hd": "evil.example"}, "", true},
		{"Google, not verified", kinds[providers.Google], nil,
			map[string]any{"hd": "example.com", "email_verified": false}, "", false},
		{"Google, hd that is not text", kinds[providers.Google], nil, map[string]any{"hd": true}, "", true},
		{"an issuer", kinds[providers.OIDC], nil, nil, "", true},
		{"an issuer, its hd", kinds[providers.OIDC], nil, map[string]any{"hd": "example.com"}, "", true},
		{"an issuer, declared", kinds[providers.OIDC], []string{"a.example", "example.com"}, nil, "example.com", true},
		{"an issuer, declared for another", kinds[providers.OIDC], []string{"ample.com"}, nil, "", true},
		{"an issuer, declared, not verified", kinds[providers.OIDC], []string{"example.com"},
			map[string]any{"email_verified": false}, "", false},
		{"an issuer, declared, quoted", kinds[providers.OIDC], []string{"example.com"},
			map[string]any{"email": `"x@example.com"@evil.example`}, "", true},
		{"Auth0, declared", kinds[providers.Auth0], []string{"example.com"}, nil, "example.com", true},
		{"Microsoft, any tenant", kinds[providers.Microsoft], nil, nil, "", false},
		{"Microsoft, any tenant, verified", kinds[providers.Microsoft], nil,
			map[string]any{"xms_edov": true}, "example.com", true},
		{"Microsoft, verified, as a digit", kinds[providers.Microsoft], nil,
			map[string]any{"xms_edov": "1"}, "example.com", true},
		{"Microsoft, not verified", kinds[providers.Microsoft], nil, map[string]any{"xms_edov": false}, "", false},
		{"Microsoft, email_verified, which it does not send", kinds[providers.Microsoft], nil,
			map[string]any{"email_verified": true}, "", false},
		{"Microsoft, a guest", kinds[providers.Microsoft], nil, map[string]any{"xms_edov": true, "acct": 1}, "", true},
		{"Microsoft, a member", kinds[providers.Microsoft], nil,
			map[string]any{"xms_edov": true, "acct": 0}, "example.com", true},
		{"Microsoft, a guest by idp", kinds[providers.Microsoft], nil,
			map[string]any{"xms_edov": true, "idp": "live.com"}, "", true},
		{"Microsoft, a member by idp", kinds[providers.Microsoft], nil,
			map[string]any{"xms_edov": true, "idp": "https://sts.windows.net/" + idp.MicrosoftTenantID + "/"},
			"example.com", true},
		{"Microsoft, any tenant, declared", kinds[providers.Microsoft], []string{"example.com"}, nil, "", false},
		{"Microsoft, one tenant", ofTenant, nil, nil, "", false},
		{"Microsoft, one tenant, declared", ofTenant, []string{"example.com"}, nil, "example.com", true},
		{"Microsoft, one tenant, declared, a guest", ofTenant, []string{"example.com"},
			map[string]any{"acct": 1}, "", false},
		{"Microsoft, one tenant, declared for another", ofTenant, []string{"other.example"}, nil, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := tt.start(t)
			s.config.Domains = tt.domains
			change(s.fake, tt.claims)
			got, _, err := s.login(t)
			if err != nil {
				t.Fatal(err)
			}
			if got.Domain != tt.domain {
				t.Errorf("authoritative for %q, want %q", got.Domain, tt.domain)
			}
			if got.EmailVerified != tt.verified {
				t.Errorf("verified is %t, want %t", got.EmailVerified, tt.verified)
			}
		})
	}
}

// change sets claims behind those that the fake's kind has.
func change(fake *idp.Fake, more map[string]any) {
	kind := fake.Claims
	fake.Claims = func(claims map[string]any) {
		if kind != nil {
			kind(claims)
		}
		for name, value := range more {
			claims[name] = value
		}
	}
}

// A personal account proves no domain, whatever its address.
func TestComplete_personalAccount(t *testing.T) {
	s := kinds[providers.Microsoft](t)
	change(s.fake, map[string]any{"tid": personal, "iss": s.fake.URL + "/" + personal + "/v2.0", "xms_edov": true})
	got, _, err := s.login(t)
	if err != nil {
		t.Fatal(err)
	}
	if got.Domain != "" {
		t.Errorf("authoritative for %q", got.Domain)
	}
	if !got.EmailVerified {
		t.Error("its address, with which it signs in, is not verified")
	}
}

func TestTakesDomains(t *testing.T) {
	const login = "https://login.microsoftonline.com/"
	for _, tt := range []struct {
		kind, issuer string
		want         bool
	}{
		{providers.OIDC, "https://id.example", true},
		{providers.Auth0, "https://a.eu.auth0.com/", true},
		{providers.Microsoft, login + idp.MicrosoftTenantID + "/v2.0", true},
		{providers.Microsoft, login + "common/v2.0", false},
		{providers.Microsoft, login + "organizations/v2.0", false},
		{providers.Microsoft, login + personal + "/v2.0", false},
		{providers.Microsoft, "", false},
		{providers.Google, "", false},
		{providers.GitHub, "https://github.example.com", false},
		{providers.Facebook, "", false},
	} {
		if got := providers.TakesDomains(tt.kind, tt.issuer); got != tt.want {
			t.Errorf("%s %s: %t", tt.kind, tt.issuer, got)
		}
	}
}
