package bundle

import (
	"postern/core/contract"
	"postern/core/snapshot"
)

// providersDoc has the identity providers of the app clients of a tenant.
type providersDoc struct {
	Providers []providerDoc `json:"providers"`
}

// providerDoc is a provider in the form of the API, with its endpoints and group mappings.
type providerDoc struct {
	contract.ProviderRecord
	Endpoints *snapshot.ProviderEndpoints `json:"endpoints"` // null: its discovery document was not read
	Mappings  []contract.GroupMapping     `json:"group_mappings"`
}

// ProvidersFile returns the name of the file with a tenant's identity providers.
func ProvidersFile(tenant string) string { return tenantFolder(tenant) + "auth/providers.json" }

func providersDocOf(clients []snapshot.AppClient) providersDoc {
	doc := providersDoc{Providers: []providerDoc{}}
	for _, c := range clients {
		for _, one := range c.Providers {
			doc.Providers = append(doc.Providers, providerDocOf(c.ID, one))
		}
	}
	return doc
}

func providerDocOf(clientID string, p snapshot.Provider) providerDoc {
	s := p.Settings
	if s == nil {
		s = &snapshot.ProviderSettings{}
	}
	doc := providerDoc{
		ProviderRecord: contract.ProviderRecord{
			ID:                   p.ID,
			AppClient:            clientID,
			Type:                 p.Type,
			Managed:              s.Managed,
			ClientID:             p.ClientID,
			HasClientSecret:      s.HasSecret,
			Issuer:               p.Issuer,
			Enabled:              p.Enabled,
			TokenType:            contract.TokenType{Client: string(p.ClientToken), Upstream: string(p.UpstreamToken)},
			Scopes:               list(s.Scopes),
			Label:                s.Label,
			Audience:             s.Audience,
			ResponseMode:         s.ResponseMode,
			AuthoritativeDomains: list(s.AuthoritativeDomains),
			SignInDomains:        list(s.SignInDomains),
			CreatedAt:            s.CreatedAt.UTC(),
		},
		Endpoints: s.Endpoints,
		Mappings:  []contract.GroupMapping{},
	}
	for _, m := range s.Mappings {
		doc.Mappings = append(doc.Mappings, contract.GroupMapping(m))
	}
	return doc
}

// provider returns the provider that a document describes.
func (d providerDoc) provider() snapshot.Provider {
	settings := &snapshot.ProviderSettings{
		Managed:              d.Managed,
		HasSecret:            d.HasClientSecret,
		Scopes:               d.Scopes,
		Label:                d.Label,
		Audience:             d.Audience,
		ResponseMode:         d.ResponseMode,
		AuthoritativeDomains: d.AuthoritativeDomains,
		SignInDomains:        d.SignInDomains,
		Endpoints:            d.Endpoints,
		CreatedAt:            d.CreatedAt,
	}
	for _, m := range d.Mappings {
		settings.Mappings = append(settings.Mappings, snapshot.GroupMapping(m))
	}
	return snapshot.Provider{
		ID:            d.ID,
		Type:          d.Type,
		ClientID:      d.ClientID,
		Issuer:        d.Issuer,
		Enabled:       d.Enabled,
		ClientToken:   snapshot.TokenType(d.TokenType.Client),
		UpstreamToken: snapshot.TokenType(d.TokenType.Upstream),
		Settings:      settings,
	}
}
