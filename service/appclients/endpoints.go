package appclients

import (
	"context"
	"encoding/json"

	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/platform/federation"
	"postern/service/login/providers"
)

// KeepEndpoints writes the endpoints in a provider's discovery document, if they are new: an export of the project
// needs the addresses, and sends no requests. A failure is logged, because the sign-in or test continues without it.
func (s *Service) KeepEndpoints(ctx context.Context, id string) {
	tx := s.DB.Read(ctx)
	row, err := tx.ProviderByID(id)
	if err != nil {
		return // it has been deleted
	}
	if config, err := s.Config(tx, row); err == nil {
		s.KeepEndpointsOf(ctx, row, config)
	}
}

// KeepEndpointsOf is KeepEndpoints for a provider that was read with its configuration.
func (s *Service) KeepEndpointsOf(ctx context.Context, row models.Provider, config providers.Config) {
	found := s.Providers.Endpoints(ctx, config)
	if found == nil {
		return
	}
	text, err := json.Marshal(found)
	if err == nil && string(text) != row.Endpoints {
		err = s.DB.Write(ctx, func(tx *models.Tx) error {
			return tx.SetProviderEndpoints(row.ID, row.Issuer, string(text))
		})
	}
	if err != nil {
		s.Log.Warn("could not save the endpoints of a provider for exports", "provider", row.ID, "error", err)
	}
}

// maxEndpoint bounds an endpoint URL of an imported provider, in bytes.
const maxEndpoint = 2 << 10

// readImportedEndpoints writes the endpoints of an imported provider into its row. The next sign-in reads them again.
func readImportedEndpoints(row *models.Provider, at *snapshot.ProviderEndpoints) []fault.Field {
	if at == nil {
		return nil
	}
	named := []string{at.Authorization, at.Token, at.JWKS}
	for _, optional := range []string{at.UserInfo, at.EndSession} {
		if optional != "" {
			named = append(named, optional)
		}
	}
	for _, address := range named {
		if len(address) > maxEndpoint || !federation.AsSafeAs(address, row.Issuer) {
			return []fault.Field{{
				Pointer: "/endpoints",
				Code:    "invalid_endpoints",
				Detail: "Use the https URLs of the provider's discovery document, or null. authorization, token and " +
					"jwks are required. userinfo and end_session are optional.",
			}}
		}
	}
	text, err := json.Marshal(at)
	if err == nil {
		row.Endpoints = string(text)
	}
	return nil
}
