package introspection

import (
	"context"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/service/login/providers"
)

// recognize finds the provider that has issued a token, by its looks; false where none
// of them can have. Nil is for a token of which nobody can say whose it is: to show it
// to one would be to give another's away. Such providers are refused when they are
// configured; this is for what a gateway learns on the way there.
func (a *Asker) recognize(token string, whom *policy.Introspectors) (provider *policy.ProviderIntrospector, found bool) {
	for i := range whom.Providers {
		one := &whom.Providers[i]
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

func (a *Asker) looksLike(token string, of *policy.ProviderIntrospector) bool {
	config := providers.Config{Type: of.Type, Issuer: of.Issuer, ClientID: of.AppID}
	return a.Login.Providers.Recognizes(config, token, of.TokenUpstream == snapshot.ProviderIDToken)
}

// present shows a token to the provider. Scopes at the provider say what an app may do
// there, and nothing of this API: the caller has none.
func (a *Asker) present(ctx context.Context, provider *policy.ProviderIntrospector, token string, into *policy.Token) error {
	owner, err := a.Login.OwnerOf(ctx, provider.Client.ID, provider.ID, token)
	if err != nil {
		return err
	}
	*into = policy.Token{
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
