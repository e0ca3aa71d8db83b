package appclients

import (
	"cmp"
	"fmt"
	"slices"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/login/providers"
)

// upstreamTokens are those that an upstream can get, in the order of forms.
var upstreamTokens = []string{
	contract.ServiceToken, contract.ProviderAccessToken, contract.ProviderIDToken, contract.NoToken,
}

// TokenTypeOf returns which tokens go where when users sign in with a provider.
func TokenTypeOf(row models.Provider) contract.TokenType {
	return contract.TokenType{Client: row.ClientToken, Upstream: row.UpstreamToken}
}

// NeedsProvider reports whether client or upstream gets a token of the provider's.
func NeedsProvider(t contract.TokenType) bool {
	return t.Client == contract.ProviderToken || t.Upstream == contract.ProviderAccessToken ||
		t.Upstream == contract.ProviderIDToken
}

// needsGateway reports whether the upstream gets something other than what the client sends.
func needsGateway(t contract.TokenType) bool {
	return t.Upstream == contract.NoToken ||
		(t.Client == contract.ServiceToken && t.Upstream != contract.ServiceToken)
}

// presentsAccess reports whether the client presents an access token of the provider's.
func presentsAccess(t contract.TokenType) bool {
	return t.Client == contract.ProviderToken && t.Upstream != contract.ProviderIDToken
}

// completed returns t with defaults for empty members.
func completed(t contract.TokenType) contract.TokenType {
	t.Client = cmp.Or(t.Client, contract.ServiceToken)
	t.Upstream = cmp.Or(t.Upstream, contract.BothTokens(t.Client).Upstream)
	return t
}

// checkTokens returns the fields of an impossible combination, with the reason.
func checkTokens(t contract.TokenType, kind string, traits providers.Traits, managed bool) []fault.Field {
	wrong := func(member, code, detail string, args ...any) []fault.Field {
		return []fault.Field{{Pointer: "/token_type" + member, Code: code, Detail: fmt.Sprintf(detail, args...)}}
	}
	const impossible = "token_type_impossible"
	switch {
	case t.Client != contract.ServiceToken && t.Client != contract.ProviderToken:
		return wrong("/client", "unknown_token_type", "Use service or provider.")
	case !slices.Contains(upstreamTokens, t.Upstream):
		return wrong("/upstream", "unknown_token_type",
			"Use service, provider_access_token, provider_id_token or none.")
	case t.Client == contract.ProviderToken && t.Upstream == contract.ServiceToken:
		return wrong("/upstream", impossible, "The upstream can get service tokens only if the client gets them, "+
			"because the gateway itself doesn't issue tokens. Set client to service, or set upstream to "+
			"provider_access_token or none.")
	case t.Upstream == contract.ProviderIDToken && !traits.HasIDToken:
		return wrong(
			"/upstream", impossible, "%s doesn't issue ID tokens. Use provider_access_token or service.",
			contract.ProviderTypeLabel(kind),
		)
	case managed && NeedsProvider(t):
		return wrong("", impossible,
			"Tokens for the shared app are valid for every project that uses it, so other projects could act as your "+
				"users. Use service, or use your own app.")
	}
	return nil
}

// TokenChoices returns the combinations that a kind of provider allows, the default first.
func TokenChoices(kind string, managed bool) []contract.TokenType {
	traits, ok := providers.TraitsOf(kind)
	if !ok {
		return nil
	}
	var out []contract.TokenType
	for _, client := range []string{contract.ServiceToken, contract.ProviderToken} {
		for _, upstream := range upstreamTokens {
			one := contract.TokenType{Client: client, Upstream: upstream}
			if len(checkTokens(one, kind, traits, managed)) == 0 {
				out = append(out, one)
			}
		}
	}
	return out
}
