package appclients

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// Limits on a team's configuration.
const (
	maxURIs      = 20
	maxURI       = 2000
	maxTitle     = 60
	maxWelcome   = 300
	maxClients   = 50
	maxProviders = 20
	maxAPIScopes = 100
)

// CreateClient creates an app client of a tenant, and returns it with its secret.
func (s *Service) CreateClient(
	ctx context.Context, p access.Principal, in contract.AppClientCreation,
) (contract.SavedAppClient, error) {
	var out contract.SavedAppClient
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		parent, team, err := access.Tenant(tx, p, in.Tenant, access.LoginUpdate)
		if err != nil {
			return err
		}
		row, secret, err := s.NewClientIn(tx, parent, in.Body)
		if err != nil {
			return err
		}
		if out, err = s.saved(tx, row, secret, in.Body.AppClientSettings); err != nil {
			return err
		}
		return access.RecordServed(tx, p, parent, access.Entry{
			Action: access.LoginUpdate,
			Object: row.ID,
			Name:   row.Name,
			Team:   team,
			After:  out.AppClient,
		})
	})
	if err != nil {
		return contract.SavedAppClient{}, fmt.Errorf("appclients: create an app client of %s: %w", in.Tenant, err)
	}
	s.Changed(ctx)
	return out, nil
}

// saved returns the answer to a change of an app client.
func (s *Service) saved(
	tx *models.Tx, row models.AppClient, secret contract.Secret, set contract.AppClientSettings,
) (contract.SavedAppClient, error) {
	found, err := s.warningsOf(tx, []models.AppClient{row})
	return contract.SavedAppClient{
		AppClient: s.Shown(row), ClientSecret: secret, Warnings: append(found, settingWarnings(set)...),
	}, err
}

// NewClientIn creates an app client in the caller's transaction. The caller checks the
// permission and writes the audit entry.
func (s *Service) NewClientIn(
	tx *models.Tx, tenant models.Tenant, in contract.NewAppClient,
) (models.AppClient, contract.Secret, error) {
	now := models.Now()
	row := models.AppClient{
		ID:                  models.NewID("cli"),
		TenantID:            tenant.ID,
		RedirectURIs:        []string{},
		LogoutURIs:          []string{},
		GrantTypes:          models.Texts{snapshot.AuthorizationCode, snapshot.RefreshToken},
		Algorithm:           contract.RS256,
		PKCE:                contract.PKCERequired,
		AccessTokenSeconds:  int64(defaultAccess / time.Second),
		RefreshTokenSeconds: int64(defaultRefresh / time.Second),
		CreatedAt:           now,
		UpdatedAt:           now,
	}
	others, err := tx.AppClientsOf(tenant.ID)
	if err != nil {
		return row, "", err
	}
	if len(others) >= maxClients {
		return row, "", fault.New(
			fault.Conflict, "too_many_app_clients", "A tenant can have at most %d app clients.", maxClients,
		)
	}
	secret, wrong := applyNewClient(&row, in)
	if err := checkClient(tx, row, others, wrong, in.APIScopes != nil); err != nil {
		return row, "", err
	}
	return row, secret, tx.Insert(&row)
}

// checkClient refuses a row with invalid fields, among which wrong are. It looks up API scopes if they were set.
func checkClient(
	tx *models.Tx, row models.AppClient, others []models.AppClient, wrong []fault.Field, scopesSet bool,
) error {
	var unknown []fault.Field
	if scopesSet {
		var err error
		if unknown, err = checkAPIScopes(tx, row); err != nil {
			return err
		}
	}
	return fault.InvalidFields(slices.Concat(wrong, unknown, nameTaken(others, row)))
}

// UpdateClient changes an app client. Making it confidential, or asking for that again, gives it a new secret.
func (s *Service) UpdateClient(
	ctx context.Context, p access.Principal, in contract.AppClientUpdate,
) (contract.SavedAppClient, error) {
	var out contract.SavedAppClient
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		row, tenant, team, err := Find(tx, p, in.Client, access.LoginUpdate)
		if err != nil {
			return err
		}
		if err := access.Unchanged(in.IfMatch, access.ETag(row.UpdatedAt)); err != nil {
			return err
		}
		before, seen := s.Shown(row), row.UpdatedAt
		secret, wrong := applyClient(&row, in.Body)
		others, err := tx.AppClientsOf(tenant.ID)
		if err != nil {
			return err
		}
		if err := checkClient(tx, row, others, wrong, in.Body.APIScopes != nil); err != nil {
			return err
		}
		if err := s.checkBackchannelClaimed(tx, row); err != nil {
			return err
		}
		row.UpdatedAt = models.Now()
		updated, err := tx.UpdateAppClient(row, seen)
		if err != nil || !updated {
			return cmp.Or(err, staleUnless(updated))
		}
		if out, err = s.saved(tx, row, secret, in.Body.AppClientSettings); err != nil {
			return err
		}
		return access.RecordServed(tx, p, tenant, access.Entry{
			Action: access.LoginUpdate,
			Object: row.ID,
			Name:   row.Name,
			Team:   team,
			Before: before,
			After:  out.AppClient,
		})
	})
	if err != nil {
		return contract.SavedAppClient{}, fmt.Errorf("appclients: update the app client %s: %w", in.Client, err)
	}
	s.Changed(ctx)
	return out, nil
}

func staleUnless(updated bool) error {
	if updated {
		return nil
	}
	return access.ChangedConcurrently()
}

// DeleteClient removes an app client and ends its sessions. The end users stay.
func (s *Service) DeleteClient(
	ctx context.Context, p access.Principal, in contract.AppClientPath,
) (contract.None, error) {
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		row, tenant, team, err := Find(tx, p, in.Client, access.LoginUpdate)
		if err != nil {
			return err
		}
		offered, err := tx.ProvidersOf(row.ID)
		if err != nil {
			return err
		}
		if err := s.endMappingsOf(ctx, tx, tenant, team, offered...); err != nil {
			return err
		}
		if err := tx.DeleteAppClient(row.ID); err != nil {
			return err
		}
		return access.RecordServed(tx, p, tenant, access.Entry{
			Action: access.LoginUpdate,
			Object: row.ID,
			Name:   row.Name,
			Team:   team,
			Before: s.Shown(row),
		})
	})
	if err != nil {
		return contract.None{}, fmt.Errorf("appclients: delete the app client %s: %w", in.Client, err)
	}
	s.Changed(ctx)
	return contract.None{}, nil
}

// Clients lists a tenant's app clients by name.
func (s *Service) Clients(
	ctx context.Context, p access.Principal, in contract.AppClientList,
) (models.List[contract.AppClient], error) {
	tx := s.DB.Read(ctx)
	parent, _, err := access.Tenant(tx, p, in.Tenant, access.LoginRead)
	if err != nil {
		return models.List[contract.AppClient]{}, fmt.Errorf("appclients: app clients of %s: %w", in.Tenant, err)
	}
	rows, err := tx.AppClientsListed(parent.ID, models.PageOf(in.Page, in.Sort, in.Text))
	if err != nil {
		return models.List[contract.AppClient]{}, fmt.Errorf("appclients: app clients of %s: %w", in.Tenant, err)
	}
	return models.MapList(rows, s.Shown), nil
}

// Client finds one app client.
func (s *Service) Client(
	ctx context.Context, p access.Principal, in contract.AppClientPath,
) (contract.AppClient, error) {
	row, _, _, err := Find(s.DB.Read(ctx), p, in.Client, access.LoginRead)
	if err != nil {
		return contract.AppClient{}, fmt.Errorf("appclients: app client %s: %w", in.Client, err)
	}
	return s.Shown(row), nil
}

// Shown returns an app client as the API shows it.
func (s *Service) Shown(row models.AppClient) contract.AppClient {
	issuer := s.Issuer(row.ID)
	return contract.AppClient{
		AppClientRecord: contract.AppClientRecord{
			ID:                   row.ID,
			Name:                 row.Name,
			RedirectURIs:         row.RedirectURIs,
			LogoutURIs:           row.LogoutURIs,
			BackchannelLogoutURI: row.BackchannelLogoutURI,
			APIScopes:            row.APIScopes,
			GrantTypes:           row.GrantTypes,
			PKCE:                 row.PKCE,
			AccessTokenSeconds:   row.AccessTokenSeconds,
			RefreshTokenSeconds:  row.RefreshTokenSeconds,
			Algorithm:            row.Algorithm,
			Branding:             BrandingOf(row),
			CreatedAt:            row.CreatedAt.UTC(),
		},
		Tenant:       row.TenantID,
		Issuer:       issuer,
		AuthorizeURL: issuer + "/authorize",
		Frozen:       row.FrozenAt != nil,
		Confidential: row.SecretHash != nil,
		ETag:         access.ETag(row.UpdatedAt),
		UpdatedAt:    row.UpdatedAt.UTC(),
	}
}

// BrandingOf returns the branding of an app client's pages.
func BrandingOf(row models.AppClient) contract.Branding {
	return contract.Branding{Title: row.Title, Welcome: row.Welcome, LogoURL: row.LogoURL, Color: row.Color}
}

// Find returns an app client that the principal may act on, with its tenant and the id of its team. An app client of
// another team is NotFound.
func Find(
	tx *models.Tx, p access.Principal, id string, action access.Action,
) (models.AppClient, models.Tenant, string, error) {
	if p.Anonymous() {
		return models.AppClient{}, models.Tenant{}, "", access.Check(p, "", action)
	}
	row, err := tx.AppClientByID(id)
	if err != nil {
		return row, models.Tenant{}, "", access.Missing(err)
	}
	tenant, team, err := access.Tenant(tx, p, row.TenantID, action)
	return row, tenant, team, err
}

// FreezeClient refuses an app client and all of its tokens, at the issuer and at the
// gateway, until UnfreezeClient.
func (s *Service) FreezeClient(
	ctx context.Context, p access.Principal, in contract.AppClientPath,
) (contract.AppClient, error) {
	return s.setFrozen(ctx, p, in.Client, true)
}

// UnfreezeClient ends FreezeClient. Tokens that have not expired work again.
func (s *Service) UnfreezeClient(
	ctx context.Context, p access.Principal, in contract.AppClientPath,
) (contract.AppClient, error) {
	return s.setFrozen(ctx, p, in.Client, false)
}

func (s *Service) setFrozen(
	ctx context.Context, p access.Principal, id string, frozen bool,
) (contract.AppClient, error) {
	var out contract.AppClient
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		row, tenant, team, err := Find(tx, p, id, access.LoginUpdate)
		if err != nil {
			return err
		}
		before := s.Shown(row)
		if out = before; before.Frozen == frozen {
			return nil
		}
		now := models.Now()
		row.FrozenAt, row.UpdatedAt = nil, now
		if frozen {
			row.FrozenAt = &now
		}
		if err := tx.FreezeAppClient(row); err != nil {
			return err
		}
		out = s.Shown(row)
		return access.RecordServed(tx, p, tenant, access.Entry{
			Action: access.LoginUpdate,
			Object: id,
			Name:   row.Name,
			Team:   team,
			Before: before,
			After:  out,
		})
	})
	if err != nil {
		return contract.AppClient{}, fmt.Errorf("appclients: freeze or unfreeze the app client %s: %w", id, err)
	}
	s.Changed(ctx)
	return out, nil
}
