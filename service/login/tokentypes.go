package login

import (
	"fmt"
	"slices"

	"postern/core/snapshot"
	"postern/platform/fault"
	"postern/service/login/providers"
)

// The tokens that a client and an upstream can get.
const (
	ServiceToken        = string(snapshot.ServiceToken)
	ProviderToken       = string(snapshot.ProviderToken)
	ProviderAccessToken = string(snapshot.ProviderAccessToken)
	ProviderIDToken     = string(snapshot.ProviderIDToken)
	NoToken             = string(snapshot.NoToken)
)

// upstreamTokens are those that an upstream can get, in the order of forms.
var upstreamTokens = []string{ServiceToken, ProviderAccessToken, ProviderIDToken, NoToken}

// TokenTypes states which token the client gets, and which one the upstream gets in
// Authorization when the client presents it.
type TokenTypes struct {
	Client   string
	Upstream string
}

// BothTokens returns the token types that a bare string stands for.
func BothTokens(both string) TokenTypes {
	switch both {
	case ProviderToken:
		return TokenTypes{Client: ProviderToken, Upstream: ProviderAccessToken}
	case NoToken:
		return TokenTypes{Client: ServiceToken, Upstream: NoToken}
	}
	return TokenTypes{Client: both, Upstream: both}
}

// needsProviders reports whether client or upstream gets a token of the provider's.
func (t TokenTypes) needsProviders() bool {
	return t.Client == ProviderToken || t.Upstream == ProviderAccessToken || t.Upstream == ProviderIDToken
}

// completed returns t with defaults for what is empty.
func (t TokenTypes) completed() TokenTypes {
	if t.Client == "" {
		t.Client = ServiceToken
	}
	if t.Upstream == "" {
		t.Upstream = BothTokens(t.Client).Upstream
	}
	return t
}

// check returns the fields of an impossible combination, with the reason.
func (t TokenTypes) check(kind string, traits providers.Traits, managed bool) []fault.Field {
	wrong := func(member, code, detail string, args ...any) []fault.Field {
		return []fault.Field{{Pointer: "/token_type" + member, Code: code, Detail: fmt.Sprintf(detail, args...)}}
	}
	const impossible = "token_type_impossible"
	switch {
	case t.Client != ServiceToken && t.Client != ProviderToken:
		return wrong("/client", "unknown_token_type", "The client gets service or provider.")
	case !slices.Contains(upstreamTokens, t.Upstream):
		return wrong("/upstream", "unknown_token_type",
			"The upstream gets service, provider_access_token, provider_id_token or none.")
	case t.Client == ProviderToken && t.Upstream == ServiceToken:
		return wrong("/upstream", impossible, "The gateway issues no tokens: what the upstream gets has to come "+
			"with the call. Let the client get service as well, or let the upstream get provider_access_token or none.")
	case t.Upstream == ProviderIDToken && !traits.HasIDToken:
		return wrong(
			"/upstream", impossible, "%s has no ID tokens. Use provider_access_token, or service.",
			providers.LabelOf(kind),
		)
	case managed && t.needsProviders():
		return wrong("", impossible,
			"Tokens of the shared app are valid for every project that uses it, and each of them could act as your "+
				"users. Use service, or an app of your own.")
	}
	return nil
}

// TokenChoices returns the combinations that a kind of provider allows, the default first.
func TokenChoices(kind string, managed bool) []TokenTypes {
	traits, ok := providers.TraitsOf(kind)
	if !ok {
		return nil
	}
	var out []TokenTypes
	for _, client := range []string{ServiceToken, ProviderToken} {
		for _, upstream := range upstreamTokens {
			if one := (TokenTypes{client, upstream}); len(one.check(kind, traits, managed)) == 0 {
				out = append(out, one)
			}
		}
	}
	return out
}
