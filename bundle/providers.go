package bundle

import "postern/core/snapshot"

// providersDoc has the identity providers of the app clients of a tenant.
type providersDoc struct {
	Providers []providerDoc `json:"providers"`
}

type providerDoc struct {
	ID            string                      `json:"id"`
	ClientID      string                      `json:"client_id"` // the app client that offers it
	Type          string                      `json:"type"`
	Managed       bool                        `json:"managed"`
	AppID         string                      `json:"app_id"`
	HasSecret     bool                        `json:"has_secret"`
	Issuer        *string                     `json:"issuer"`
	Enabled       bool                        `json:"enabled"`
	Browser       snapshot.TokenType          `json:"token_client"`
	Upstream      snapshot.TokenType          `json:"token_upstream"`
	Scopes        []string                    `json:"scopes"`
	Label         *string                     `json:"label"`
	Audience      *string                     `json:"audience"`
	ResponseMode  *string                     `json:"response_mode"`
	Domains       []string                    `json:"domains"`
	SignInDomains []string                    `json:"sign_in_domains"`
	Endpoints     *snapshot.ProviderEndpoints `json:"endpoints"` // null: its discovery document was not read
	Mappings      []mappingDoc                `json:"group_mappings"`
	CreatedAt     string                      `json:"created_at"`
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
		ID:            p.ID,
		ClientID:      clientID,
		Type:          p.Type,
		Managed:       s.Managed,
		AppID:         p.AppID,
		HasSecret:     s.HasSecret,
		Issuer:        optional(p.Issuer),
		Enabled:       p.Enabled,
		Browser:       p.TokenClient,
		Upstream:      p.TokenUpstream,
		Scopes:        list(s.Scopes),
		Label:         optional(s.Label),
		Audience:      optional(s.Audience),
		ResponseMode:  optional(s.ResponseMode),
		Domains:       list(s.Domains),
		SignInDomains: list(s.SignInDomains),
		Endpoints:     s.Endpoints,
		Mappings:      []mappingDoc{},
		CreatedAt:     stamp(s.CreatedAt),
	}
	for _, m := range s.Mappings {
		doc.Mappings = append(doc.Mappings, mappingDoc{m.Claim, m.Match, m.Value, m.Group})
	}
	return doc
}

// provider returns the provider that a document describes.
func (d providerDoc) provider(in *reading) snapshot.Provider {
	settings := &snapshot.ProviderSettings{
		Managed:       d.Managed,
		HasSecret:     d.HasSecret,
		Scopes:        d.Scopes,
		Label:         valueOf(d.Label),
		Audience:      valueOf(d.Audience),
		ResponseMode:  valueOf(d.ResponseMode),
		Domains:       d.Domains,
		SignInDomains: d.SignInDomains,
		Endpoints:     d.Endpoints,
		CreatedAt:     in.moment(&d.CreatedAt),
	}
	for _, m := range d.Mappings {
		settings.Mappings = append(settings.Mappings, snapshot.GroupMapping{
			Claim: m.Claim, Match: m.Match, Value: m.Value, Group: m.Group,
		})
	}
	return snapshot.Provider{
		ID:            d.ID,
		Type:          d.Type,
		AppID:         d.AppID,
		Issuer:        valueOf(d.Issuer),
		Enabled:       d.Enabled,
		TokenClient:   d.Browser,
		TokenUpstream: d.Upstream,
		Settings:      settings,
	}
}
