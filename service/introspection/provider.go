package introspection

import (
	"context"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/service/login/providers"
)

// recognize returns the provider that can have issued the token, by its form, and false if
// none can. It returns nil and true if several can: showing the token to the wrong one
// would disclose it. Such providers are refused when they are configured; a gateway can
// see them for a moment while it loads changes.
func (a *Introspector) recognize(
	token string, issuers *policy.Introspectors,
) (provider *policy.ProviderIntrospector, found bool) {
	for i := range issuers.Providers {
		one := &issuers.Providers[i]
		if !a.looksLike(token, one) {
			continue
		}
		if found && (provider == nil || !provider.Equivalent(one)) {
			return nil, true
		}
		if !found {
			provider, found = one, true
		}
	}
	return provider, found
}

func (a *Introspector) looksLike(token string, of *policy.ProviderIntrospector) bool {
	config := providers.Config{Type: of.Type, Issuer: of.Issuer, ClientID: of.ClientID}
	return a.Login.Clients.Providers.Recognizes(config, token, of.UpstreamToken == snapshot.ProviderIDToken)
}

// askProvider gets the owner of a token from the provider. The caller gets no scopes: those of the token apply at the
// provider, not to this API.
func (a *Introspector) askProvider(
	ctx context.Context, provider *policy.ProviderIntrospector, token string, out *policy.Token,
) error {
	owner, err := a.Login.OwnerOf(ctx, provider.Client.ID, provider.ID, token)
	if err != nil {
		return err
	}
	*out = policy.Token{
		Issuer:  provider.Client.Issuer,
		Subject: owner.User,
		Hosted: policy.Hosted{
			Introspected: true,
			Client:       provider.Client.ID,
			Provider:     provider.ID,
			Groups:       policy.ListedGroups(owner.Groups),
		},
	}
	return nil
}
