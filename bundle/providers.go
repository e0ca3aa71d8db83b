package bundle

import (
	"postern/core/contract"
	"postern/core/snapshot"
)

// providersDoc has the identity providers of the app clients of a tenant.
type providersDoc struct {
	Providers []providerDoc `json:"providers"`
}

type providerDoc struct {
	ID                   string                      `json:"id"`
	AppClient            string                      `json:"app_client"`
	Type                 string                      `json:"type"`
	Managed              bool                        `json:"managed"`
	ClientID             string                      `json:"client_id"` // of the app at the provider
	HasSecret            bool                        `json:"has_client_secret"`
	Issuer               *string                     `json:"issuer"`
	Enabled              bool                        `json:"enabled"`
	TokenType            contract.TokenType          `json:"token_type"`
	Scopes               []string                    `json:"scopes"`
	Label                *string                     `json:"label"`
	Audience             *string                     `json:"audience"`
	ResponseMode         *string                     `json:"response_mode"`
	AuthoritativeDomains []string                    `json:"authoritative_domains"`
	SignInDomains        []string                    `json:"sign_in_domains"`
	Endpoints            *snapshot.ProviderEndpoints `json:"endpoints"` // null: its discovery document was not read
	Mappings             []mappingDoc                `json:"group_mappings"`
	CreatedAt            string                      `json:"created_at"`
}

type mappingDoc struct {
	Claim string `json:"claim"`
	Match string `json:"match"`
	Value string `json:"value"`
	Group string `json:"group"`
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
		ID:                   p.ID,
		AppClient:            clientID,
		Type:                 p.Type,
		Managed:              s.Managed,
		ClientID:             p.ClientID,
		HasSecret:            s.HasSecret,
		Issuer:               optional(p.Issuer),
		Enabled:              p.Enabled,
		TokenType:            contract.TokenType{Client: string(p.ClientToken), Upstream: string(p.UpstreamToken)},
		Scopes:               list(s.Scopes),
		Label:                optional(s.Label),
		Audience:             optional(s.Audience),
		ResponseMode:         optional(s.ResponseMode),
		AuthoritativeDomains: list(s.AuthoritativeDomains),
		SignInDomains:        list(s.SignInDomains),
		Endpoints:            s.Endpoints,
		Mappings:             []mappingDoc{},
		CreatedAt:            stamp(s.CreatedAt),
	}
	for _, m := range s.Mappings {
		doc.Mappings = append(doc.Mappings, mappingDoc{m.Claim, m.Match, m.Value, m.Group})
	}
	return doc
}

// provider returns the provider that a document describes.
func (d providerDoc) provider(in *reading) snapshot.Provider {
	settings := &snapshot.ProviderSettings{
		Managed:              d.Managed,
		HasSecret:            d.HasSecret,
		Scopes:               d.Scopes,
		Label:                valueOf(d.Label),
		Audience:             valueOf(d.Audience),
		ResponseMode:         valueOf(d.ResponseMode),
		AuthoritativeDomains: d.AuthoritativeDomains,
		SignInDomains:        d.SignInDomains,
		Endpoints:            d.Endpoints,
		CreatedAt:            in.moment(&d.CreatedAt),
	}
	for _, m := range d.Mappings {
		settings.Mappings = append(settings.Mappings, snapshot.GroupMapping{
			Claim: m.Claim, Match: m.Match, Value: m.Value, Group: m.Group,
		})
	}
	return snapshot.Provider{
		ID:            d.ID,
		Type:          d.Type,
		ClientID:      d.ClientID,
		Issuer:        valueOf(d.Issuer),
		Enabled:       d.Enabled,
		ClientToken:   snapshot.TokenType(d.TokenType.Client),
		UpstreamToken: snapshot.TokenType(d.TokenType.Upstream),
		Settings:      settings,
	}
}
