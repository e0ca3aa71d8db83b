package login

import (
	"testing"

	"postern/service/login/providers"
)

// Every combination there is, and whether it can be had: with an ID token, without
// one, and from the shared app.
func TestTokenTypes(t *testing.T) {
	golden := map[TokenTypes]string{
		{ServiceToken, ServiceToken}:         "yyy",
		{ServiceToken, ProviderAccessToken}:  "yyn",
		{ServiceToken, ProviderIDToken}:      "ynn",
		{ServiceToken, NoToken}:              "yyy",
		{ProviderToken, ServiceToken}:        "nnn",
		{ProviderToken, ProviderAccessToken}: "yyn",
		{ProviderToken, ProviderIDToken}:     "ynn",
		{ProviderToken, NoToken}:             "yyn",
		{NoToken, NoToken}:                   "nnn",
		{ServiceToken, ProviderToken}:        "nnn",
		{"", "nonsense"}:                     "nnn",
	}
	with, _ := providers.TraitsOf(providers.Google)
	without, _ := providers.TraitsOf(providers.GitHub)
	for types, want := range golden {
		got := ""
		for _, wrong := range []int{
			len(types.completed().check(providers.Google, with, false)),
			len(types.completed().check(providers.GitHub, without, false)),
			len(types.completed().check(providers.GitHub, without, true)),
		} {
			if wrong == 0 {
				got += "y"
			} else {
				got += "n"
			}
		}
		if got != want {
			t.Errorf("%+v: got %s, want %s", types, got, want)
		}
	}
	for both, want := range map[string]TokenTypes{
		"service":  {ServiceToken, ServiceToken},
		"provider": {ProviderToken, ProviderAccessToken},
		"none":     {ServiceToken, NoToken},
	} {
		if got := BothTokens(both); got != want {
			t.Errorf("%q sets %+v", both, got)
		}
	}
	for given, want := range map[TokenTypes]TokenTypes{
		{}:                              {ServiceToken, ServiceToken},
		{Client: ProviderToken}:         {ProviderToken, ProviderAccessToken},
		{Upstream: ProviderAccessToken}: {ServiceToken, ProviderAccessToken},
	} {
		if got := given.completed(); got != want {
			t.Errorf("%+v is completed to %+v", given, got)
		}
	}
}
