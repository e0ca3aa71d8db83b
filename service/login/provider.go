package login

import (
	"context"
	"fmt"

	"postern/models"
	"postern/platform/fault"
	"postern/service/login/providers"
)

var errNotOffered = fault.New(fault.NotFound, "provider_not_offered",
	"This way to sign in is no longer offered. Go back to the application and choose another.")

// providerConfig returns the configuration of an enabled provider, with its secret.
func (s *Service) providerConfig(ctx context.Context, clientID, id string) (providers.Config, models.Provider, error) {
	row, err := s.providerRow(ctx, id)
	if err != nil {
		return providers.Config{}, row, err
	}
	config, err := s.offeredConfig(ctx, clientID, row)
	return config, row, err
}

// providerRow returns the row of a provider, which may be another app client's, and the zero row if there is none.
func (s *Service) providerRow(ctx context.Context, id string) (models.Provider, error) {
	row, err := s.DB.Read(ctx).ProviderByID(id)
	if isAbsent(err) {
		return models.Provider{}, nil
	}
	if err != nil {
		return row, fmt.Errorf("login: find the provider %s: %w", id, err)
	}
	return row, nil
}

// offeredConfig is providerConfig for a row of providerRow.
func (s *Service) offeredConfig(ctx context.Context, clientID string, row models.Provider) (providers.Config, error) {
	if row.AppClientID != clientID || !row.Enabled {
		return providers.Config{}, errNotOffered
	}
	return s.Clients.Config(s.DB.Read(ctx), row)
}
