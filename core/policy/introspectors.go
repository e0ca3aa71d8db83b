package policy

import (
	"maps"
	"slices"

	"postern/core/snapshot"
)

// Introspectors are the servers that check, on every call, those tokens of a version that only their issuer can check.
type Introspectors struct {
	// EndpointVersion is the id of the version, if it has an introspection endpoint;
	// "" if there is none.
	EndpointVersion string

	// Providers are the enabled providers whose own tokens browsers get, in the
	// order of the app clients.
	Providers []ProviderIntrospector

	verified map[string]bool // issuers whose tokens are verified by their published keys
}

// ProviderIntrospector is a provider that checks the tokens it issued.
type ProviderIntrospector struct {
	snapshot.Provider
	Client *snapshot.AppClient // that offers the provider
}

// Equivalent reports whether a and b give the same result for every token.
func (a *ProviderIntrospector) Equivalent(b *ProviderIntrospector) bool {
	return a.Type == b.Type &&
		a.Issuer == b.Issuer &&
		a.ClientID == b.ClientID &&
		a.UpstreamToken == b.UpstreamToken &&
		a.Client.TenantID == b.Client.TenantID
}

// VerifiedByKeys reports whether tokens of the issuer are verified by its published
// keys, and therefore never introspected.
func (a *Introspectors) VerifiedByKeys(issuer string) bool { return a.verified[issuer] }

// KeyIssuers returns the issuers whose tokens are verified by their published keys, in
// alphabetical order.
func (a *Introspectors) KeyIssuers() []string { return slices.Sorted(maps.Keys(a.verified)) }

// NewIntrospectors returns the introspectors of a version, nil if there is none.
func NewIntrospectors(p *snapshot.Project, versionID string, a *snapshot.Access) *Introspectors {
	out := &Introspectors{verified: map[string]bool{}}
	if a.Allows(snapshot.Opaque) {
		out.EndpointVersion = versionID
	}
	for _, client := range p.Clients {
		out.verified[client.Issuer] = true
	}
	if a.Allows(snapshot.JWT) {
		for _, one := range a.Issuers() {
			out.verified[one.Issuer] = true
		}
		out.Providers = providerIntrospectors(p)
	}
	if out.EndpointVersion == "" && len(out.Providers) == 0 {
		return nil
	}
	return out
}

func providerIntrospectors(p *snapshot.Project) (out []ProviderIntrospector) {
	for i := range p.Clients {
		for _, provider := range p.Clients[i].Providers {
			if provider.Enabled && provider.ClientToken == snapshot.ProviderToken {
				out = append(out, ProviderIntrospector{provider, &p.Clients[i]})
			}
		}
	}
	return out
}
