package login

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"time"

	"postern/models"
	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/service/access"
	"postern/service/login/providers"
)

// Provider is an identity provider of an app client, as its team sees it. The client
// secret is write-only.
type Provider struct {
	ID        string
	Client    string
	Type      string
	Managed   bool
	ClientID  string
	HasSecret bool
	Issuer    string
	Scopes    []string
	Tokens    TokenTypes
	Audience  string   // the API that its access tokens are for; only auth0
	Label     string   // on its button, "" for the kind's name
	Domains   []string // of addresses that it is authoritative for, as the team declares

	ResponseMode string // of its answers: query or form_post; "" for kinds that take none

	SignInDomains []string // of addresses whose users are sent to it

	Enabled   bool
	Callback  string // to register with the provider
	ETag      string `audit:"-"`
	CreatedAt time.Time
	UpdatedAt time.Time
}

// ProviderInput has the fields of a provider that can be set. Nil leaves a field
// unchanged, or at its default in a new provider. Type, Managed and Issuer cannot change.
type ProviderInput struct {
	Type         string
	Managed      bool
	Issuer       string // or a domain, for auth0
	ClientID     *string
	ClientSecret *secrets.Secret
	Scopes       *[]string
	Tokens       *TokenTypes
	Label        *string
	Audience     *string
	ResponseMode *string // "" for the default
	Domains      *[]string
	Enabled      *bool

	SignInDomains *[]string
}

// CreateProvider adds a provider to an app client.
func (s *Service) CreateProvider(
	ctx context.Context, p access.Principal, clientID string, in ProviderInput,
) (Provider, error) {
	in, err := s.checkAddress(ctx, in)
	if err != nil {
		return Provider{}, fmt.Errorf("login: add a provider to %s: %w", clientID, err)
	}
	var out Provider
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		client, tenant, team, err := findClient(tx, p, clientID, access.LoginUpdate)
		if err != nil {
			return err
		}
		if err := s.checkPort(in.Issuer, p.Roles[team] == access.Workspace); err != nil {
			return err
		}
		if out, err = s.NewProviderIn(tx, client, team, in); err != nil {
			return err
		}
		if err := s.checkSuits(tx, tenant, out.ID); err != nil {
			return err
		}
		return s.changed(
			tx, p, tenant, access.Entry{Action: access.LoginUpdate, Object: out.ID, Team: team, After: out},
		)
	})
	if err != nil {
		return Provider{}, fmt.Errorf("login: add a provider to %s: %w", clientID, err)
	}
	s.Changed(ctx)
	return out, nil
}

// NewProviderIn adds a provider in the caller's transaction. The caller checks permission
// and issuer, and writes the audit entry.
func (s *Service) NewProviderIn(
	tx *models.Tx, client models.AppClient, team string, in ProviderInput,
) (Provider, error) {
	now := models.Now()
	row := models.Provider{
		ID:       models.NewID("idp"),
		ClientID: client.ID,
		Type:     in.Type,
		Managed:  in.Managed,
		Issuer:   in.Issuer,
		Domains:  []string{},
		Enabled:  true,

		SignInDomains: []string{},

		CreatedAt: now,
		UpdatedAt: now,
	}
	if _, err := tx.LockAppClient(client.ID); err != nil {
		return Provider{}, err
	}
	others, err := tx.ProvidersOf(client.ID)
	if err != nil {
		return Provider{}, err
	}
	if len(others) >= maxProviders {
		return Provider{}, fault.New(
			fault.Conflict, "too_many_providers", "An app client has at most %d providers.", maxProviders,
		)
	}
	if err := s.apply(tx, team, &row, in); err != nil {
		return Provider{}, err
	}
	if err := checkSignInDomains(tx, row); err != nil {
		return Provider{}, err
	}
	return s.viewProvider(row), tx.Insert(&row)
}

// UpdateProvider changes a provider. If ifMatch is neither empty nor the provider's ETag,
// the change is refused.
func (s *Service) UpdateProvider(
	ctx context.Context, p access.Principal, id, ifMatch string, in ProviderInput,
) (Provider, error) {
	var out Provider
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		row, tenant, team, err := findProvider(tx, p, id, access.LoginUpdate)
		if err != nil {
			return err
		}
		if err := access.Unchanged(ifMatch, access.ETag(row.UpdatedAt)); err != nil {
			return err
		}
		if _, err := tx.LockAppClient(row.ClientID); err != nil {
			return err
		}
		before, seen := s.viewProvider(row), row.UpdatedAt
		if err := s.apply(tx, team, &row, in); err != nil {
			return err
		}
		if err := checkSignInDomains(tx, row); err != nil {
			return err
		}
		if err := s.checkPort(row.Issuer, row.Enabled && p.Roles[team] == access.Workspace); err != nil {
			return err
		}
		row.UpdatedAt = models.Now()
		won, err := tx.UpdateProvider(row, seen)
		if err != nil || !won {
			return cmp.Or(err, lost(won))
		}
		if err := s.checkSuits(tx, tenant, id); err != nil {
			return err
		}
		out = s.viewProvider(row)
		entry := access.Entry{Action: access.LoginUpdate, Object: id, Team: team, Before: before, After: out}
		if in.ClientSecret != nil {
			entry.Detail = map[string]string{"change": "secret"}
		}
		return s.changed(tx, p, tenant, entry)
	})
	if err != nil {
		return Provider{}, fmt.Errorf("login: update the provider %s: %w", id, err)
	}
	s.Changed(ctx)
	return out, nil
}

// DeleteProvider removes a provider from its app client. Its users stay, and can sign in
// again with a provider of the same kind and issuer. They leave the groups that only its
// claims put them into.
func (s *Service) DeleteProvider(ctx context.Context, p access.Principal, id string) error {
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		row, tenant, team, err := findProvider(tx, p, id, access.LoginUpdate)
		if err != nil {
			return err
		}
		if err := s.endMappingsOf(ctx, tx, tenant, team, row); err != nil {
			return err
		}
		if err := tx.DeleteProvider(id); err != nil {
			return err
		}
		return s.changed(
			tx, p, tenant,
			access.Entry{Action: access.LoginUpdate, Object: id, Team: team, Before: s.viewProvider(row)},
		)
	})
	if err != nil {
		return fmt.Errorf("login: delete the provider %s: %w", id, err)
	}
	s.Changed(ctx)
	return nil
}

// ProvidersOf returns an app client's providers in the order of their buttons.
func (s *Service) ProvidersOf(ctx context.Context, p access.Principal, clientID string) ([]Provider, error) {
	tx := s.DB.Read(ctx)
	if _, _, _, err := findClient(tx, p, clientID, access.LoginRead); err != nil {
		return nil, fmt.Errorf("login: providers of %s: %w", clientID, err)
	}
	rows, err := tx.ProvidersOf(clientID)
	if err != nil {
		return nil, fmt.Errorf("login: providers of %s: %w", clientID, err)
	}
	list := make([]Provider, 0, len(rows))
	for _, row := range rows {
		list = append(list, s.viewProvider(row))
	}
	return list, nil
}

func findProvider(
	tx *models.Tx, p access.Principal, id string, action access.Action,
) (models.Provider, models.Tenant, string, error) {
	if p.Anonymous() {
		return models.Provider{}, models.Tenant{}, "", access.Check(p, "", action)
	}
	row, err := tx.ProviderByID(id)
	if err != nil {
		return row, models.Tenant{}, "", notFound(err)
	}
	_, tenant, team, err := findClient(tx, p, row.ClientID, action)
	return row, tenant, team, err
}

func (s *Service) viewProvider(row models.Provider) Provider {
	return Provider{
		ID:        row.ID,
		Client:    row.ClientID,
		Type:      row.Type,
		Managed:   row.Managed,
		ClientID:  row.AppID,
		HasSecret: row.ClientSecret != nil,
		Issuer:    row.Issuer,
		Scopes:    row.Scopes,
		Tokens:    TokenTypes{row.TokenClient, row.TokenUpstream},
		Label:     row.Label,
		Audience:  row.Audience,
		Domains:   row.Domains,
		Enabled:   row.Enabled,

		ResponseMode: row.ResponseMode,

		SignInDomains: row.SignInDomains,

		Callback:  s.RedirectURI(row.ClientID, row.ID),
		ETag:      access.ETag(row.UpdatedAt),
		CreatedAt: row.CreatedAt,
		UpdatedAt: row.UpdatedAt,
	}
}

// labelOf returns the label that the team gave the provider, or else the kind's name, with
// the host where several of a kind are likely.
func labelOf(row models.Provider) string {
	if row.Label != "" {
		return row.Label
	}
	label := providers.LabelOf(row.Type)
	u, err := url.Parse(row.Issuer)
	if err != nil || u.Host == "" {
		return label
	}
	if row.Type == providers.OIDC {
		return u.Host
	}
	return label + " (" + u.Host + ")"
}

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
	if row.ClientID != clientID || !row.Enabled {
		return providers.Config{}, errNotOffered
	}
	return s.configOf(s.DB.Read(ctx), row)
}

// configOf returns the configuration of a provider, with its secret.
func (s *Service) configOf(tx *models.Tx, row models.Provider) (providers.Config, error) {
	config := providers.Config{
		Type:         row.Type,
		ClientID:     row.AppID,
		Issuer:       row.Issuer,
		Scopes:       row.Scopes,
		Audience:     row.Audience,
		Domains:      row.Domains,
		ResponseMode: row.ResponseMode,
		RedirectURI:  s.RedirectURI(row.ClientID, row.ID),
	}
	var err error
	if config.WebPorts, err = s.heldByID(tx, row.ClientID); err != nil {
		return config, err
	}
	if row.Managed {
		if s.Shared.ClientID == "" {
			return config, fault.New(
				fault.Unavailable, "managed_login_unavailable",
				"Signing in with GitHub is no longer set up here. Contact the application's support.",
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
		return providers.Config{}, fmt.Errorf("login: test the provider %s: %w", id, err)
	}
	config, err := s.configOf(tx, row)
	if err != nil {
		return providers.Config{}, fmt.Errorf("login: test the provider %s: %w", id, err)
	}
	return config, nil
}
