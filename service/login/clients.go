package login

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"postern/models"
	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/service/access"
)

// Bounds on what a team may configure.
const (
	maxURIs      = 20
	maxURI       = 2000
	maxTitle     = 60
	maxWelcome   = 300
	maxClients   = 50
	maxProviders = 20
	maxAPIScopes = 100
)

// Client is an app client as its team sees it.
type Client struct {
	ID           string
	Tenant       string
	Name         string
	RedirectURIs []string
	LogoutURIs   []string
	Backchannel  string   // URI that is told that a session has ended, "" for none
	APIScopes    []string // that it may ask for
	GrantTypes   []string // how it gets tokens
	Frozen       bool
	Confidential bool
	PKCE         string // PKCERequired or PKCEWhenSent
	Access       time.Duration
	Refresh      time.Duration // 0: no refresh tokens
	Algorithm    string
	Branding     Branding
	ETag         string `audit:"-"`
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// Branding is the look of the hosted pages.
type Branding struct {
	Title   string // "" shows the client's name
	Welcome string
	LogoURL string
	Color   string // #rrggbb
}

// NewClient is a client with its secret, shown this once; "" for a public client.
type NewClient struct {
	Client
	Secret   secrets.Secret
	Warnings []fault.Warning
}

// ClientInput has the fields of a client that can be set. Nil leaves a field unchanged,
// or at its default in a new client.
type ClientInput struct {
	Name         *string
	RedirectURIs *[]string
	LogoutURIs   *[]string
	Backchannel  *string
	APIScopes    *[]string
	GrantTypes   *[]string
	Confidential *bool
	PKCE         *string
	Access       *time.Duration
	Refresh      *time.Duration
	Algorithm    *string
	Title        *string
	Welcome      *string
	LogoURL      *string
	Color        *string
}

// CreateClient creates an app client of a tenant, and returns it with its secret.
func (s *Service) CreateClient(
	ctx context.Context, p access.Principal, tenant string, in ClientInput,
) (NewClient, error) {
	var out NewClient
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		parent, team, err := findTenant(tx, p, tenant, access.LoginUpdate)
		if err != nil {
			return err
		}
		row, secret, err := s.NewClientIn(tx, parent, in)
		if err != nil {
			return err
		}
		out = NewClient{Client: viewClient(row), Secret: secret}
		if out.Warnings, err = s.warningsOf(tx, []models.AppClient{row}); err != nil {
			return err
		}
		out.Warnings = append(out.Warnings, in.warnings()...)
		return s.changed(tx, p, parent, access.Entry{
			Action: access.LoginUpdate,
			Object: row.ID,
			Team:   team,
			After:  out.Client,
		})
	})
	if err != nil {
		return NewClient{}, fmt.Errorf("login: create an app client of %s: %w", tenant, err)
	}
	s.Changed(ctx)
	return out, nil
}

// NewClientIn creates an app client in the caller's transaction. The caller checks the
// permission and writes the audit entry.
func (s *Service) NewClientIn(
	tx *models.Tx, tenant models.Tenant, in ClientInput,
) (models.AppClient, secrets.Secret, error) {
	now := models.Now()
	row := models.AppClient{
		ID:             models.NewID("cli"),
		TenantID:       tenant.ID,
		RedirectURIs:   []string{},
		LogoutURIs:     []string{},
		GrantTypes:     models.Texts{authorizationCode, refreshToken},
		Algorithm:      RS256,
		PKCE:           PKCERequired,
		AccessSeconds:  int64(DefaultAccess / time.Second),
		RefreshSeconds: int64(DefaultRefresh / time.Second),
		CreatedAt:      now,
		UpdatedAt:      now,
	}
	others, err := tx.AppClientsOf(tenant.ID)
	if err != nil {
		return row, "", err
	}
	if len(others) >= maxClients {
		return row, "", fault.New(
			fault.Conflict, "too_many_app_clients", "A tenant has at most %d app clients.", maxClients,
		)
	}
	secret, wrong := in.apply(&row)
	if in.Name == nil {
		wrong = append(wrong, fault.Field{
			Pointer: "/name",
			Code:    "required",
			Detail:  "Name the application, such as web.",
		})
	}
	unknown, err := in.checkAPIScopes(tx, row)
	if err != nil {
		return row, "", err
	}
	if err := fault.InvalidFields(slices.Concat(wrong, unknown, nameTaken(others, row))); err != nil {
		return row, "", err
	}
	return row, secret, tx.Insert(&row)
}

// UpdateClient changes an app client; where ifMatch is not empty it is refused as
// stale unless that is still the client's ETag. Making it confidential, or asking
// for that again, gives it a new secret.
func (s *Service) UpdateClient(
	ctx context.Context, p access.Principal, id, ifMatch string, in ClientInput,
) (NewClient, error) {
	var out NewClient
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		row, tenant, team, err := findClient(tx, p, id, access.LoginUpdate)
		if err != nil {
			return err
		}
		if err := access.Unchanged(ifMatch, access.ETag(row.UpdatedAt)); err != nil {
			return err
		}
		before, seen := viewClient(row), row.UpdatedAt
		secret, wrong := in.apply(&row)
		others, err := tx.AppClientsOf(tenant.ID)
		if err != nil {
			return err
		}
		unknown, err := in.checkAPIScopes(tx, row)
		if err != nil {
			return err
		}
		if err := fault.InvalidFields(slices.Concat(wrong, unknown, nameTaken(others, row))); err != nil {
			return err
		}
		if err := s.mayTell(tx, row); err != nil {
			return err
		}
		row.UpdatedAt = models.Now()
		won, err := tx.UpdateAppClient(row, seen)
		if err != nil || !won {
			return cmp.Or(err, lost(won))
		}
		out = NewClient{Client: viewClient(row), Secret: secret}
		if out.Warnings, err = s.warningsOf(tx, []models.AppClient{row}); err != nil {
			return err
		}
		out.Warnings = append(out.Warnings, in.warnings()...)
		return s.changed(tx, p, tenant, access.Entry{
			Action: access.LoginUpdate,
			Object: id,
			Team:   team,
			Before: before,
			After:  out.Client,
		})
	})
	if err != nil {
		return NewClient{}, fmt.Errorf("login: update the app client %s: %w", id, err)
	}
	s.Changed(ctx)
	return out, nil
}

func lost(won bool) error {
	if won {
		return nil
	}
	return errChanged
}

// DeleteClient removes an app client and ends its sessions. The end users stay.
func (s *Service) DeleteClient(ctx context.Context, p access.Principal, id string) error {
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		row, tenant, team, err := findClient(tx, p, id, access.LoginUpdate)
		if err != nil {
			return err
		}
		offered, err := tx.ProvidersOf(id)
		if err != nil {
			return err
		}
		if err := s.endMappingsOf(ctx, tx, tenant, team, offered...); err != nil {
			return err
		}
		if err := tx.DeleteAppClient(id); err != nil {
			return err
		}
		return s.changed(tx, p, tenant, access.Entry{
			Action: access.LoginUpdate,
			Object: id,
			Team:   team,
			Before: viewClient(row),
		})
	})
	if err != nil {
		return fmt.Errorf("login: delete the app client %s: %w", id, err)
	}
	s.Changed(ctx)
	return nil
}

// Clients lists a tenant's app clients by name.
func (s *Service) Clients(
	ctx context.Context, p access.Principal, tenant string, page models.Page,
) (models.List[Client], error) {
	tx := s.DB.Read(ctx)
	parent, _, err := findTenant(tx, p, tenant, access.LoginRead)
	if err != nil {
		return models.List[Client]{}, fmt.Errorf("login: app clients of %s: %w", tenant, err)
	}
	rows, err := tx.AppClientsListed(parent.ID, page)
	if err != nil {
		return models.List[Client]{}, fmt.Errorf("login: app clients of %s: %w", tenant, err)
	}
	return models.MapList(rows, viewClient), nil
}

// Client finds one app client.
func (s *Service) Client(ctx context.Context, p access.Principal, id string) (Client, error) {
	row, _, _, err := findClient(s.DB.Read(ctx), p, id, access.LoginRead)
	if err != nil {
		return Client{}, fmt.Errorf("login: app client %s: %w", id, err)
	}
	return viewClient(row), nil
}

func viewClient(row models.AppClient) Client {
	return Client{
		ID:           row.ID,
		Tenant:       row.TenantID,
		Name:         row.Name,
		RedirectURIs: row.RedirectURIs,
		LogoutURIs:   row.LogoutURIs,
		Backchannel:  row.BackchannelURI,
		APIScopes:    row.APIScopes,
		GrantTypes:   row.GrantTypes,
		Frozen:       row.FrozenAt != nil,
		Confidential: row.SecretHash != nil,
		PKCE:         row.PKCE,
		Access:       time.Duration(row.AccessSeconds) * time.Second,
		Refresh:      time.Duration(row.RefreshSeconds) * time.Second,
		Algorithm:    row.Algorithm,
		Branding:     Branding{Title: row.Title, Welcome: row.Welcome, LogoURL: row.LogoURL, Color: row.Color},
		ETag:         access.ETag(row.UpdatedAt),
		CreatedAt:    row.CreatedAt,
		UpdatedAt:    row.UpdatedAt,
	}
}

// Brand returns the look of an app client's pages. It needs no permission: they are public.
func (s *Service) Brand(ctx context.Context, id string) (Look, error) {
	row, err := s.client(ctx, id)
	if err != nil {
		return Look{}, err
	}
	return s.lookOf(s.DB.Read(ctx), row, "")
}

func findTenant(tx *models.Tx, p access.Principal, id string, action access.Action) (models.Tenant, string, error) {
	if p.Anonymous() {
		return models.Tenant{}, "", access.Check(p, "", action)
	}
	tenant, team, err := teamOf(tx, id)
	if err != nil {
		return tenant, team, notFound(err)
	}
	if tenant.ProjectID == nil {
		return tenant, team, access.Check(p, team, action)
	}
	project, err := tx.ProjectByID(*tenant.ProjectID)
	if err != nil {
		return tenant, team, err
	}
	return tenant, team, access.CheckProject(p, project, action)
}

func findClient(
	tx *models.Tx, p access.Principal, id string, action access.Action,
) (models.AppClient, models.Tenant, string, error) {
	if p.Anonymous() {
		return models.AppClient{}, models.Tenant{}, "", access.Check(p, "", action)
	}
	row, err := tx.AppClientByID(id)
	if err != nil {
		return row, models.Tenant{}, "", notFound(err)
	}
	tenant, team, err := findTenant(tx, p, row.TenantID, action)
	return row, tenant, team, err
}

// changed writes the audit entry, and a revision for the gateways of the tenant's projects.
func (s *Service) changed(tx *models.Tx, p access.Principal, tenant models.Tenant, entry access.Entry) error {
	if err := access.Record(tx, p, entry); err != nil {
		return err
	}
	return tx.AddTenantRevisions(tenant, models.Now())
}
