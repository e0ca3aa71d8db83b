package policy

import "postern/core/snapshot"

// Asked are those who are asked about the tokens of a version that only whoever
// issued them can judge.
type Asked struct {
	Introspects string // the version's id, where it has an endpoint for introspection; "" for none

	Providers []AskedProvider // whose own tokens browsers get, of those that are on; in the order of the app clients

	verified map[string]bool // issuers whose tokens are verified by their keys
}

// AskedProvider is a provider that is asked about tokens that it issued.
type AskedProvider struct {
	snapshot.Provider
	Client *snapshot.AppClient // that offers it
}

// SameAs tells whether it makes no difference which of the two is asked.
func (a *AskedProvider) SameAs(b *AskedProvider) bool {
	return a.Type == b.Type && a.Issuer == b.Issuer && a.AppID == b.AppID && a.TokenUpstream == b.TokenUpstream &&
		a.Client.TenantID == b.Client.TenantID
}

// Verified tells whether tokens of the issuer are verified by its keys, so that nobody
// is asked about them.
func (a *Asked) Verified(issuer string) bool { return a.verified[issuer] }

// NewAsked lays out whom a version asks, nil for nobody.
func NewAsked(p *snapshot.Project, versionID string, a *snapshot.Access) *Asked {
	out := &Asked{verified: map[string]bool{}}
	if a.Allows(snapshot.Opaque) {
		out.Introspects = versionID
	}
	for _, client := range p.Clients {
		out.verified[client.Issuer] = true
	}
	if a.Allows(snapshot.JWT) {
		for _, one := range a.Issuers {
			out.verified[one.Issuer] = true
		}
		out.Providers = askedProviders(p)
	}
	if out.Introspects == "" && len(out.Providers) == 0 {
		return nil
	}
	return out
}

func askedProviders(p *snapshot.Project) (out []AskedProvider) {
	for i := range p.Clients {
		for _, provider := range p.Clients[i].Providers {
			if provider.Enabled && provider.TokenClient == snapshot.ProviderToken {
				out = append(out, AskedProvider{provider, &p.Clients[i]})
			}
		}
	}
	return out
}
