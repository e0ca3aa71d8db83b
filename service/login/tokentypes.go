package login

import (
	"fmt"

	"postern/core/snapshot"
	"postern/platform/fault"
	"postern/service/login/providers"
)

// What a browser and an upstream can get (spec.md, 6).
const (
	ServiceToken        = string(snapshot.ServiceToken)
	ProviderToken       = string(snapshot.ProviderToken)
	ProviderAccessToken = string(snapshot.ProviderAccessToken)
	ProviderIDToken     = string(snapshot.ProviderIDToken)
	NoToken             = string(snapshot.NoToken)
)

// TokenTypes is what the client gets and what the upstream then gets in
// Authorization.
type TokenTypes struct {
	Client   string
	Upstream string
}

// BothTokens is what a bare string stands for.
func BothTokens(both string) TokenTypes {
	switch both {
	case ProviderToken:
		return TokenTypes{Client: ProviderToken, Upstream: ProviderAccessToken}
	case NoToken:
		return TokenTypes{Client: ServiceToken, Upstream: NoToken}
	}
	return TokenTypes{Client: both, Upstream: both}
}

// needsProviders tells whether a login has to hand on a token of the provider's.
func (t TokenTypes) needsProviders() bool {
	return t.Client == ProviderToken || t.Upstream == ProviderAccessToken || t.Upstream == ProviderIDToken
}

// completed fills in what was left out.
func (t TokenTypes) completed() TokenTypes {
	if t.Client == "" {
		t.Client = ServiceToken
	}
	if t.Upstream == "" {
		t.Upstream = BothTokens(t.Client).Upstream
	}
	return t
}

// check says which combinations cannot be had, and why.
func (t TokenTypes) check(kind string, traits providers.Traits, managed bool) []fault.Field {
	wrong := func(member, code, detail string, args ...any) []fault.Field {
		return []fault.Field{{Pointer: "/token_type" + member, Code: code, Detail: fmt.Sprintf(detail, args...)}}
	}
	const impossible = "token_type_impossible"
	switch {
	case t.Client != ServiceToken && t.Client != ProviderToken:
		return wrong("/client", "unknown_token_type", "The client gets service or provider.")
	case t.Upstream != ServiceToken && t.Upstream != ProviderAccessToken && t.Upstream != ProviderIDToken && t.Upstream != NoToken:
		return wrong("/upstream", "unknown_token_type", "The upstream gets service, provider_access_token, "+
			"provider_id_token or none.")
	case t.Client == ProviderToken && t.Upstream == ServiceToken:
		return wrong("/upstream", impossible, "The gateway issues no tokens: what the upstream gets has to come "+
			"with the call. Let the client get service as well, or let the upstream get provider_access_token or none.")
	case t.Upstream == ProviderIDToken && !traits.HasIDToken:
		return wrong(
			"/upstream", impossible, "%s has no ID tokens. Use provider_access_token, or service.",
			providers.LabelOf(kind),
		)
	case managed && t.needsProviders():
		return wrong("", impossible, "The tokens of the shared app work for everybody who uses it, so that whoever "+
			"gets one could act as that person elsewhere. Use service, or an app of your own.")
	}
	return nil
}

// TokenChoices lists what can be had of a provider of the kind, the default first.
func TokenChoices(kind string, managed bool) []TokenTypes {
	traits, ok := providers.TraitsOf(kind)
	if !ok {
		return nil
	}
	var out []TokenTypes
	for _, client := range []string{ServiceToken, ProviderToken} {
		for _, upstream := range []string{ServiceToken, ProviderAccessToken, ProviderIDToken, NoToken} {
			if one := (TokenTypes{client, upstream}); len(one.check(kind, traits, managed)) == 0 {
				out = append(out, one)
			}
		}
	}
	return out
}
