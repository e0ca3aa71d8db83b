package appclients

import (
	"testing"

	"postern/core/contract"
	"postern/service/login/providers"
)

// Every combination there is, and whether it can be had: with an ID token, without
// one, and from the shared app.
func TestTokenTypes(t *testing.T) {
	golden := map[contract.TokenType]string{
		{Client: contract.ServiceToken, Upstream: contract.ServiceToken}:         "yyy",
		{Client: contract.ServiceToken, Upstream: contract.ProviderAccessToken}:  "yyn",
		{Client: contract.ServiceToken, Upstream: contract.ProviderIDToken}:      "ynn",
		{Client: contract.ServiceToken, Upstream: contract.NoToken}:              "yyy",
		{Client: contract.ProviderToken, Upstream: contract.ServiceToken}:        "nnn",
		{Client: contract.ProviderToken, Upstream: contract.ProviderAccessToken}: "yyn",
		{Client: contract.ProviderToken, Upstream: contract.ProviderIDToken}:     "ynn",
		{Client: contract.ProviderToken, Upstream: contract.NoToken}:             "yyn",
		{Client: contract.NoToken, Upstream: contract.NoToken}:                   "nnn",
		{Client: contract.ServiceToken, Upstream: contract.ProviderToken}:        "nnn",
		{Client: "", Upstream: "nonsense"}:                                       "nnn",
	}
	with, _ := providers.TraitsOf(providers.Google)
	without, _ := providers.TraitsOf(providers.GitHub)
	for types, want := range golden {
		got := ""
		for _, wrong := range []int{
			len(checkTokens(completed(types), providers.Google, with, false)),
			len(checkTokens(completed(types), providers.GitHub, without, false)),
			len(checkTokens(completed(types), providers.GitHub, without, true)),
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
	for both, want := range map[string]contract.TokenType{
		"service":  {Client: contract.ServiceToken, Upstream: contract.ServiceToken},
		"provider": {Client: contract.ProviderToken, Upstream: contract.ProviderAccessToken},
		"none":     {Client: contract.ServiceToken, Upstream: contract.NoToken},
	} {
		if got := contract.BothTokens(both); got != want {
			t.Errorf("%q sets %+v", both, got)
		}
	}
	for given, want := range map[contract.TokenType]contract.TokenType{
		{}:                               contract.BothTokens("service"),
		{Client: contract.ProviderToken}: contract.BothTokens("provider"),
		{Upstream: contract.ProviderAccessToken}: {
			Client: contract.ServiceToken, Upstream: contract.ProviderAccessToken,
		},
	} {
		if got := completed(given); got != want {
			t.Errorf("%+v is completed to %+v", given, got)
		}
	}
}
