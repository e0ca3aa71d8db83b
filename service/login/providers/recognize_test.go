package providers_test

import (
	"slices"
	"strings"
	"testing"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/service/login/providers"
	"postern/testkit/idp"
)

// what a provider is, and which of its tokens its app hands out.
type offer struct {
	kind, issuer string
	identity     bool
}

func (o offer) config() providers.Config {
	return providers.Config{Type: o.kind, Issuer: o.issuer, ClientID: idp.ClientID}
}

func saying(iss string) string { return idp.Unsigned(map[string]any{"iss": iss}) }

// A token goes to the one provider whose it can be by its looks, and to no other.
func TestTokens_ownProviderOnly(t *testing.T) {
	const own, other = "https://login.example.com", "https://other.example.com"
	tenant := "https://login.microsoftonline.com/" + idp.MicrosoftTenantID + "/v2.0"
	offers := map[string]offer{
		"github":       {providers.GitHub, "", false},
		"google":       {providers.Google, "", false},
		"google id":    {providers.Google, "", true},
		"facebook":     {providers.Facebook, "", false},
		"microsoft":    {providers.Microsoft, "", false},
		"microsoft id": {providers.Microsoft, "", true},
		"one tenant":   {providers.Microsoft, tenant, false},
		"oidc":         {providers.OIDC, own, false},
		"oidc id":      {providers.OIDC, own, true},
		"auth0":        {providers.Auth0, other, false},
	}
	tests := map[string][]string{
		"gho_abc":                             {"github"},
		"ghu_abc":                             {"github"},
		"ghp_personal":                        nil, // of no app
		"ya29.a0Af":                           {"google"},
		"ya29.a0.Af":                          {"google"},
		"EAAB1":                               {"facebook"},
		"opaque":                              {"oidc", "auth0"},
		"":                                    {"oidc", "auth0"},
		"a.b.c":                               {"oidc", "auth0"},
		saying(own):                           {"oidc", "oidc id"},
		saying(own + "/"):                     nil,
		saying(other):                         {"auth0"},
		saying("https://evil.example.com"):    nil,
		saying(""):                            nil,
		saying("https://accounts.google.com"): {"google", "google id"},
		saying("accounts.google.com"):         {"google", "google id"},
		saying(tenant):                        {"microsoft", "microsoft id", "one tenant"},
		saying("https://sts.windows.net/" + idp.MicrosoftTenantID + "/"): {
			"microsoft",
			"microsoft id",
			"one tenant",
		},
		saying("https://sts.windows.net/00000000-0000-0000-0000-000000000001/"): {
			"microsoft",
			"microsoft id",
		},
		saying("https://login.microsoftonline.com.evil.example/" + idp.MicrosoftTenantID + "/v2.0"): nil,
		saying("https://login.microsoftonline.com/common/v2.0"):                                     nil,
		idp.Unsigned(map[string]any{"iss": []string{own}}):                                          nil,
		"eyJhbGciOiJkaXIiLCJpc3MiOiJodHRwczovL290aGVyLmV4YW1wbGUuY29tIn0..x.y.z": {
			"auth0",
		}, // encrypted, for https://other.example.com
	}
	set := &providers.Set{}
	for token, want := range tests {
		checkForms(t, offers, token, want)
		claimed := map[string]bool{}
		for _, name := range want {
			claimed[name] = true
		}
		for name, o := range offers {
			if got := set.Recognizes(o.config(), token, o.identity); got != claimed[name] {
				t.Errorf("%q is %s's: %v, want %v", token, name, got, claimed[name])
			}
		}
	}
}

// checkForms checks that a token has one of the forms of the providers that it belongs to:
// an exported gateway keeps tokens from introspection endpoints by these.
func checkForms(t *testing.T, offers map[string]offer, token string, belongs []string) {
	t.Helper()
	starts := func(text string, with []string) bool {
		return slices.ContainsFunc(with, func(prefix string) bool { return strings.HasPrefix(text, prefix) })
	}
	issuer, jwt := providers.IssuerOf(token)
	for _, name := range belongs {
		o := offers[name]
		provider := policy.ProviderIntrospector{Provider: snapshot.Provider{Type: o.kind, Issuer: o.issuer}}
		if o.identity {
			provider.UpstreamToken = snapshot.ProviderIDToken
		}
		forms := provider.Forms()
		ok := forms.AnyOpaque || starts(token, forms.Prefixes)
		if jwt {
			ok = slices.Contains(forms.Issuers, issuer) || starts(issuer, forms.IssuersBelow)
		}
		if !ok {
			t.Errorf("%q belongs to %s but lacks its forms: %+v", token, name, forms)
		}
	}
}

func TestRecognize_ambiguous(t *testing.T) {
	const own, other = "https://login.example.com", "https://other.example.com"
	ms := func(tenant string) string { return "https://login.microsoftonline.com/" + tenant + "/v2.0" }
	one, two := ms(idp.MicrosoftTenantID), ms("00000000-0000-0000-0000-000000000001")
	tests := []struct {
		a, b offer
		want bool
	}{
		{offer{providers.GitHub, "", false}, offer{providers.GitHub, "https://github.example.com", false}, true},
		{offer{providers.GitHub, "", false}, offer{providers.Google, "", false}, false},
		{offer{providers.Google, "", false}, offer{providers.Google, "", false}, true},
		{offer{providers.Google, "", false}, offer{providers.Google, "", true}, true},
		{offer{providers.Google, "", true}, offer{providers.OIDC, "https://accounts.google.com", true}, true},
		{offer{providers.Facebook, "", false}, offer{providers.Facebook, "", false}, true},
		{offer{providers.OIDC, own, false}, offer{providers.OIDC, other, false}, true},
		{offer{providers.OIDC, own, false}, offer{providers.Auth0, other, false}, true},
		{offer{providers.OIDC, own, true}, offer{providers.OIDC, other, true}, false},
		{offer{providers.OIDC, own, true}, offer{providers.OIDC, other, false}, false},
		{offer{providers.OIDC, own, true}, offer{providers.OIDC, own, true}, true},
		{offer{providers.OIDC, own, false}, offer{providers.GitHub, "", false}, false},
		{offer{providers.Microsoft, "", false}, offer{providers.OIDC, own, false}, false},
		{offer{providers.Microsoft, "", false}, offer{providers.Microsoft, one, true}, true},
		{offer{providers.Microsoft, one, false}, offer{providers.Microsoft, two, false}, false},
		{offer{providers.Microsoft, ms("contoso.example"), false}, offer{providers.Microsoft, two, false}, true},
		{offer{providers.Microsoft, "", false}, offer{providers.OIDC, two, true}, true},
	}
	set := &providers.Set{}
	for _, one := range tests {
		for _, pair := range [][2]offer{{one.a, one.b}, {one.b, one.a}} {
			got := set.Confusable(pair[0].config(), pair[1].config(), pair[0].identity, pair[1].identity)
			if got != one.want {
				t.Errorf("%+v and %+v: %v, want %v", pair[0], pair[1], got, one.want)
			}
		}
	}
}
