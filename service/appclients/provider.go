package appclients

import (
	"cmp"
	"context"
	"fmt"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/login/providers"
)

// CreateProvider adds a provider to an app client.
func (s *Service) CreateProvider(
	ctx context.Context, p access.Principal, in contract.ProviderCreation,
) (contract.Provider, error) {
	checked, err := s.checkAddress(ctx, in.Body)
	if err != nil {
		return contract.Provider{}, fmt.Errorf("appclients: add a provider to %s: %w", in.Client, err)
	}
	var out contract.Provider
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		client, tenant, team, err := Find(tx, p, in.Client, access.LoginUpdate)
		if err != nil {
			return err
		}
		if err := s.checkPort(checked.Issuer, p.Roles[team] == access.Workspace); err != nil {
			return err
		}
		if out, err = s.NewProviderIn(tx, client, team, checked); err != nil {
			return err
		}
		if err := s.checkProjects(tx, tenant, out.ID); err != nil {
			return err
		}
		entry := providerEntry(client, team, out)
		entry.After = out
		return access.RecordServed(tx, p, tenant, entry)
	})
	if err != nil {
		return contract.Provider{}, fmt.Errorf("appclients: add a provider to %s: %w", in.Client, err)
	}
	s.Changed(ctx)
	return out, nil
}

// providerEntry returns the audit entry for a change of a provider, which is named with its app client.
func providerEntry(client models.AppClient, team string, of contract.Provider) access.Entry {
	return access.Entry{
		Action: access.LoginUpdate,
		Object: of.ID,
		Name:   of.ShownLabel(),
		Team:   team,
		Detail: map[string]string{"app_client": client.Name},
	}
}

// NewProviderIn adds a provider in the caller's transaction. The caller checks permission
// and issuer, and writes the audit entry.
func (s *Service) NewProviderIn(
	tx *models.Tx, client models.AppClient, team string, in contract.NewProvider,
) (contract.Provider, error) {
	now := models.Now()
	row := models.Provider{
		ID:                   models.NewID("idp"),
		AppClientID:          client.ID,
		Type:                 in.Type,
		Managed:              in.Managed,
		Issuer:               in.Issuer,
		AuthoritativeDomains: []string{},
		SignInDomains:        []string{},
		Enabled:              true,
		CreatedAt:            now,
		UpdatedAt:            now,
	}
	if _, err := tx.LockAppClient(client.ID); err != nil {
		return contract.Provider{}, err
	}
	others, err := tx.ProvidersOf(client.ID)
	if err != nil {
		return contract.Provider{}, err
	}
	if len(others) >= maxProviders {
		return contract.Provider{}, fault.New(
			fault.Conflict, "too_many_providers", "An app client can have at most %d providers.", maxProviders,
		)
	}
	if err := s.apply(tx, team, &row, in.ProviderSettings); err != nil {
		return contract.Provider{}, err
	}
	if err := checkSignInDomains(tx, row); err != nil {
		return contract.Provider{}, err
	}
	return s.shownProvider(row), tx.Insert(&row)
}

// UpdateProvider changes a provider.
func (s *Service) UpdateProvider(
	ctx context.Context, p access.Principal, in contract.ProviderUpdate,
) (contract.Provider, error) {
	var out contract.Provider
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		row, tenant, team, err := findProvider(tx, p, in.Provider, access.LoginUpdate)
		if err != nil {
			return err
		}
		if err := access.Unchanged(in.IfMatch, access.ETag(row.UpdatedAt)); err != nil {
			return err
		}
		client, err := tx.LockAppClient(row.AppClientID)
		if err != nil {
			return err
		}
		before, seen := s.shownProvider(row), row.UpdatedAt
		if err := s.apply(tx, team, &row, in.Body); err != nil {
			return err
		}
		if err := checkSignInDomains(tx, row); err != nil {
			return err
		}
		if err := s.checkPort(row.Issuer, row.Enabled && p.Roles[team] == access.Workspace); err != nil {
			return err
		}
		row.UpdatedAt = models.Now()
		updated, err := tx.UpdateProvider(row, seen)
		if err != nil || !updated {
			return cmp.Or(err, staleUnless(updated))
		}
		if err := s.checkProjects(tx, tenant, row.ID); err != nil {
			return err
		}
		out = s.shownProvider(row)
		entry := providerEntry(client, team, out)
		entry.Before, entry.After = before, out
		if in.Body.ClientSecret != nil {
			entry.Detail["change"] = "secret"
		}
		return access.RecordServed(tx, p, tenant, entry)
	})
	if err != nil {
		return contract.Provider{}, fmt.Errorf("appclients: update the provider %s: %w", in.Provider, err)
	}
	s.Changed(ctx)
	return out, nil
}

// DeleteProvider removes a provider from its app client. Its users stay, and can sign in
// again with a provider of the same kind and issuer. They leave the groups that only its
// claims put them into.
func (s *Service) DeleteProvider(
	ctx context.Context, p access.Principal, in contract.ProviderPath,
) (contract.None, error) {
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		row, tenant, team, err := findProvider(tx, p, in.Provider, access.LoginUpdate)
		if err != nil {
			return err
		}
		if err := s.endMappingsOf(ctx, tx, tenant, team, row); err != nil {
			return err
		}
		if err := tx.DeleteProvider(row.ID); err != nil {
			return err
		}
		client, err := tx.AppClientByID(row.AppClientID)
		if err != nil {
			return err
		}
		entry := providerEntry(client, team, s.shownProvider(row))
		entry.Before = s.shownProvider(row)
		return access.RecordServed(tx, p, tenant, entry)
	})
	if err != nil {
		return contract.None{}, fmt.Errorf("appclients: delete the provider %s: %w", in.Provider, err)
	}
	s.Changed(ctx)
	return contract.None{}, nil
}

// ProvidersOf returns an app client's providers in the order of their buttons, on one page.
func (s *Service) ProvidersOf(
	ctx context.Context, p access.Principal, in contract.AppClientPath,
) (contract.List[contract.Provider], error) {
	out := contract.List[contract.Provider]{Items: []contract.Provider{}}
	tx := s.DB.Read(ctx)
	if _, _, _, err := Find(tx, p, in.Client, access.LoginRead); err != nil {
		return out, fmt.Errorf("appclients: providers of %s: %w", in.Client, err)
	}
	rows, err := tx.ProvidersOf(in.Client)
	if err != nil {
		return out, fmt.Errorf("appclients: providers of %s: %w", in.Client, err)
	}
	for _, row := range rows {
		out.Items = append(out.Items, s.shownProvider(row))
	}
	return out, nil
}

// Provider finds one provider.
func (s *Service) Provider(
	ctx context.Context, p access.Principal, in contract.ProviderPath,
) (contract.Provider, error) {
	row, _, _, err := findProvider(s.DB.Read(ctx), p, in.Provider, access.LoginRead)
	if err != nil {
		return contract.Provider{}, fmt.Errorf("appclients: provider %s: %w", in.Provider, err)
	}
	return s.shownProvider(row), nil
}

func findProvider(
	tx *models.Tx, p access.Principal, id string, action access.Action,
) (models.Provider, models.Tenant, string, error) {
	if p.Anonymous() {
		return models.Provider{}, models.Tenant{}, "", access.Check(p, "", action)
	}
	row, err := tx.ProviderByID(id)
	if err != nil {
		return row, models.Tenant{}, "", access.Missing(err)
	}
	_, tenant, team, err := Find(tx, p, row.AppClientID, action)
	return row, tenant, team, err
}

func (s *Service) shownProvider(row models.Provider) contract.Provider {
	return contract.Provider{
		ProviderRecord: contract.ProviderRecord{
			ID:                   row.ID,
			AppClient:            row.AppClientID,
			Type:                 row.Type,
			Managed:              row.Managed,
			ClientID:             row.ClientID,
			HasClientSecret:      row.ClientSecret != nil,
			Issuer:               row.Issuer,
			Scopes:               row.Scopes,
			TokenType:            TokenTypeOf(row),
			Label:                row.Label,
			Audience:             row.Audience,
			AuthoritativeDomains: row.AuthoritativeDomains,
			ResponseMode:         row.ResponseMode,
			SignInDomains:        row.SignInDomains,
			Enabled:              row.Enabled,
			CreatedAt:            row.CreatedAt.UTC(),
		},
		CallbackURL: s.redirectURI(row.AppClientID, row.ID),
		ETag:        access.ETag(row.UpdatedAt),
		UpdatedAt:   row.UpdatedAt.UTC(),
	}
}

// Label returns what the provider's button says after "Continue with".
func Label(row models.Provider) string {
	return contract.ProviderRecord{Type: row.Type, Issuer: row.Issuer, Label: row.Label}.ShownLabel()
}

// PublicLabel returns what hosted pages and their errors call a provider. With the restrictions of CapUnclaimed (held)
// that is the host of an issuer that anyone may have set up, whatever its label says: a button "Google" could lead
// anywhere.
func PublicLabel(row models.Provider, held bool) string {
	if held {
		row.Label = ""
	}
	return Label(row)
}

// Config returns the configuration of a provider, with its secret. Its label is the public one.
func (s *Service) Config(tx *models.Tx, row models.Provider) (providers.Config, error) {
	held, err := s.HeldByID(tx, row.AppClientID)
	if err != nil {
		return providers.Config{}, err
	}
	config := providers.Config{
		Type:         row.Type,
		Label:        PublicLabel(row, held),
		ClientID:     row.ClientID,
		Issuer:       row.Issuer,
		Scopes:       row.Scopes,
		Audience:     row.Audience,
		Domains:      row.AuthoritativeDomains,
		ResponseMode: row.ResponseMode,
		RedirectURI:  s.redirectURI(row.AppClientID, row.ID),
		WebPorts:     held,
	}
	if row.Managed {
		if s.Shared.ClientID == "" {
			return config, fault.New(
				fault.Unavailable, "managed_login_unavailable",
				"Sign-in with GitHub is no longer available here. Contact the application's support team.",
			)
		}
		config.ClientID, config.ClientSecret = s.Shared.ClientID, s.Shared.ClientSecret
		return config, nil
	}
	if row.ClientSecret != nil {
		config.ClientSecret, err = s.Vault.Open(tx, row.SecretPlace(), row.ClientSecret)
	}
	return config, err
}

// ProviderToTest returns the configuration of a provider for a caller who may change it, whether it is enabled or not.
// It contains the client secret.
func (s *Service) ProviderToTest(ctx context.Context, p access.Principal, id string) (providers.Config, error) {
	tx := s.DB.Read(ctx)
	row, _, _, err := findProvider(tx, p, id, access.LoginUpdate)
	if err != nil {
		return providers.Config{}, fmt.Errorf("appclients: test the provider %s: %w", id, err)
	}
	config, err := s.Config(tx, row)
	if err != nil {
		return providers.Config{}, fmt.Errorf("appclients: test the provider %s: %w", id, err)
	}
	return config, nil
}
