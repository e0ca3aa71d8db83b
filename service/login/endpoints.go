package login

import (
	"context"
	"encoding/json"

	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/platform/federation"
	"postern/service/login/providers"
)

// KeepEndpoints writes what the discovery document of a provider says, if that is new: an export of the project needs
// the addresses, and sends no requests. A failure is logged, because the sign-in or test goes on without it.
func (s *Service) KeepEndpoints(ctx context.Context, id string) {
	tx := s.DB.Read(ctx)
	row, err := tx.ProviderByID(id)
	if err != nil {
		return // it was deleted meanwhile
	}
	if config, err := s.configOf(tx, row); err == nil {
		s.keepEndpoints(ctx, row, config)
	}
}

func (s *Service) keepEndpoints(ctx context.Context, row models.Provider, config providers.Config) {
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
		s.Log.Warn("the addresses of a provider are not kept for exports", "provider", row.ID, "error", err)
	}
}

// maxEndpoint bounds an address of an imported provider, in bytes.
const maxEndpoint = 2 << 10

// readImportedEndpoints writes the addresses of an imported provider into its row. The next sign-in reads them again.
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
				Detail: "Give authorization, token and jwks, and userinfo and end_session if the provider has them: " +
					"https addresses as its discovery document names them, or null.",
			}}
		}
	}
	text, err := json.Marshal(at)
	if err == nil {
		row.Endpoints = string(text)
	}
	return nil
}
