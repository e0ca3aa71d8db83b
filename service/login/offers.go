package login

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"postern/models"
	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/service/access"
	"postern/service/login/providers"
)

// Provider is an identity provider of an app client, as its team sees it. The
// secret can be written and not read.
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
	Enabled   bool
	Callback  string // to register with the provider
	ETag      string `audit:"-"`
	CreatedAt time.Time
	UpdatedAt time.Time
}

// ProviderInput is what a provider can have. Nil leaves a field as it is, or at
// its default in a new one. Type, Managed and Issuer stay what they were.
type ProviderInput struct {
	Type         string
	Managed      bool
	Issuer       string // or a domain, for auth0
	ClientID     *string
	ClientSecret *secrets.Secret
	Scopes       *[]string
	Tokens       *TokenTypes
	Enabled      *bool
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

// checkAddress reads the issuer and judges it, before any transaction: names are
// resolved for it.
func (s *Service) checkAddress(ctx context.Context, in ProviderInput) (ProviderInput, error) {
	traits, ok := providers.TraitsOf(in.Type)
	if !ok {
		return in, fault.InvalidField(
			"/type", "unknown_provider", "Use one of %s.", strings.Join(providers.Kinds(), ", "),
		)
	}
	if in.Issuer == "" {
		if traits.NeedsIssuer {
			return in, fault.InvalidField(
				"/issuer",
				"required",
				"%s needs its issuer, such as https://login.example.com; for auth0 the domain will do.",
				traits.Label,
			)
		}
		return in, nil
	}
	if !traits.NeedsIssuer && (!traits.TakesIssuer || in.Managed) {
		return in, fault.InvalidField(
			"/issuer", "issuer_not_taken",
			"%s is found at its own address. Leave this out, or use the type oidc.", traits.Label,
		)
	}
	if len(in.Issuer) > maxURI {
		return in, fault.InvalidField("/issuer", "invalid_url", "Use at most %d bytes.", maxURI)
	}
	if !strings.Contains(in.Issuer, "://") {
		in.Issuer = "https://" + in.Issuer
	}
	u, err := s.Targets.CheckTarget(ctx, in.Issuer)
	if err != nil {
		if f, ok := errors.AsType[*fault.Error](err); ok {
			return in, fault.InvalidField("/issuer", f.Code, "%s", f.Public).Because(err)
		}
		return in, err
	}
	if u.Scheme != "https" && !isLoopback(u.Hostname()) {
		return in, fault.InvalidField("/issuer", "invalid_issuer", "An issuer is an https address.")
	}
	in.Issuer = canonical(in.Type, u, in.Issuer)
	return in, nil
}

// canonical is how the kind writes its issuer. That of an OpenID provider is
// compared byte by byte (OpenID Connect Discovery 1.0, 4.3), so it stays as it is.
func canonical(kind string, u *url.URL, given string) string {
	switch kind {
	case providers.Auth0:
		return u.Scheme + "://" + u.Host + "/"
	case providers.GitHub:
		return u.Scheme + "://" + u.Host
	case providers.Microsoft:
		return strings.TrimSuffix(u.String(), "/")
	}
	return given
}

// NewProviderIn adds a provider in the caller's transaction; permission, the audit
// entry and the check of the address are the caller's.
func (s *Service) NewProviderIn(
	tx *models.Tx, client models.AppClient, team string, in ProviderInput,
) (Provider, error) {
	now := models.Now()
	row := models.Provider{
		ID:        models.NewID("idp"),
		ClientID:  client.ID,
		Type:      in.Type,
		Managed:   in.Managed,
		Issuer:    in.Issuer,
		Enabled:   true,
		CreatedAt: now,
		UpdatedAt: now,
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
	return s.viewProvider(row), tx.Insert(&row)
}

// UpdateProvider changes a provider; where ifMatch is not empty it is refused as
// stale unless that is still the provider's ETag.
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
		before, seen := s.viewProvider(row), row.UpdatedAt
		if err := s.apply(tx, team, &row, in); err != nil {
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

// DeleteProvider takes a provider away from its app client. The people whom it
// vouched for stay, and come back with one of the same kind and issuer.
func (s *Service) DeleteProvider(ctx context.Context, p access.Principal, id string) error {
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		row, tenant, team, err := findProvider(tx, p, id, access.LoginUpdate)
		if err != nil {
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

// ProvidersOf lists an app client's providers in the order of their buttons.
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
		Enabled:   row.Enabled,
		Callback: s.Callback(
			row.ClientID, row.ID,
		),
		ETag:      access.ETag(row.UpdatedAt),
		CreatedAt: row.CreatedAt,
		UpdatedAt: row.UpdatedAt,
	}
}

// labelOf tells several of a kind apart by where they are.
func labelOf(row models.Provider) string {
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

func secretPlace(id string) secrets.Place {
	return secrets.Place{Table: "providers", Row: id, Column: "client_secret"}
}

// scopePattern is what RFC 6749, 3.3 lets a scope be.
var scopePattern = regexp.MustCompile(`^[\x21\x23-\x5b\x5d-\x7e]{1,200}$`)

const (
	maxScopes   = 50
	maxClientID = 300
	maxSecret   = 1000
)

// apply writes what was sent into the row, and refuses what cannot work.
func (s *Service) apply(tx *models.Tx, team string, row *models.Provider, in ProviderInput) error {
	if err := s.fill(row, in); err != nil {
		return err
	}
	if in.ClientSecret == nil {
		return nil
	}
	row.ClientSecret = nil
	if *in.ClientSecret == "" {
		return nil
	}
	var err error
	row.ClientSecret, err = s.Vault.Seal(tx, team, secretPlace(row.ID), *in.ClientSecret)
	return err
}

// fill is apply without the secret, which takes a transaction to seal.
func (s *Service) fill(row *models.Provider, in ProviderInput) error {
	traits, ok := providers.TraitsOf(row.Type)
	if !ok {
		return fmt.Errorf("login: provider %s is of the kind %q", row.ID, row.Type)
	}
	if row.Managed {
		if err := s.checkManaged(row.Type, in); err != nil {
			return err
		}
	}
	if in.ClientID != nil {
		row.AppID = strings.TrimSpace(*in.ClientID)
	}
	if in.Scopes != nil {
		row.Scopes = slices.Clone(*in.Scopes)
	}
	if len(row.Scopes) == 0 {
		row.Scopes = traits.Scopes
	}
	if in.Tokens != nil {
		row.TokenClient, row.TokenUpstream = in.Tokens.Client, in.Tokens.Upstream
	}
	types := TokenTypes{row.TokenClient, row.TokenUpstream}.completed()
	row.TokenClient, row.TokenUpstream = types.Client, types.Upstream
	if in.Enabled != nil {
		row.Enabled = *in.Enabled
	}
	secretSent := in.ClientSecret != nil && *in.ClientSecret != ""
	return fault.InvalidFields(
		append(checkProvider(*row, traits, in, secretSent), types.check(row.Type, traits, row.Managed)...),
	)
}

func (s *Service) checkManaged(kind string, in ProviderInput) error {
	switch {
	case kind != providers.GitHub:
		return fault.InvalidField(
			"/managed", "managed_login_unavailable",
			"Only GitHub can be managed: register an app of your own with this provider, and give its client_id.",
		)
	case s.Shared.ClientID == "":
		return fault.InvalidField(
			"/managed", "managed_login_unavailable",
			"This installation has no shared GitHub app. Register an OAuth app of your own with GitHub, and give its client_id and client_secret.",
		)
	case in.ClientID != nil || in.ClientSecret != nil:
		return fault.InvalidField(
			"/client_id", "managed_has_its_own",
			"A managed provider has the installation's own app. Leave client_id and client_secret out, or managed.",
		)
	case in.Scopes != nil:
		return fault.InvalidField(
			"/scopes", "managed_has_its_own",
			"A managed provider asks for who somebody is, and no more. Leave scopes out.",
		)
	}
	return nil
}

func checkProvider(row models.Provider, traits providers.Traits, in ProviderInput, secretSent bool) []fault.Field {
	var wrong []fault.Field
	refuse := func(ok bool, pointer, code, detail string) {
		if !ok {
			wrong = append(wrong, fault.Field{Pointer: pointer, Code: code, Detail: detail})
		}
	}
	if !row.Managed {
		// One that is off may wait for them: its callback URL is what the provider asks for first.
		refuse(
			row.AppID != "" || !row.Enabled, "/client_id", "required",
			"Give the client id that "+traits.Label+" has for your app.",
		)
		fits := len(row.AppID) <= maxClientID && !strings.ContainsFunc(row.AppID, unprintable)
		refuse(fits, "/client_id", "invalid_client_id", fmt.Sprintf("Use at most %d bytes on one line.", maxClientID))
		has := secretSent || (in.ClientSecret == nil && row.ClientSecret != nil)
		refuse(
			has || !traits.NeedsSecret || !row.Enabled, "/client_secret", "required",
			traits.Label+" needs the client secret of your app.",
		)
	}
	refuse(in.ClientSecret == nil || len(*in.ClientSecret) <= maxSecret, "/client_secret", "invalid_client_secret",
		fmt.Sprintf("Use at most %d bytes.", maxSecret))
	refuse(len(row.Scopes) <= maxScopes, "/scopes", "too_many", "Ask for at most 50 scopes.")
	for i, scope := range row.Scopes {
		refuse(scopePattern.MatchString(scope), fmt.Sprintf("/scopes/%d", i), "invalid_scope",
			"Use 1 to 200 printable ASCII characters without spaces, quotes and backslashes.")
	}
	refuse(
		traits.RequiredScope == "" || slices.Contains(row.Scopes, traits.RequiredScope), "/scopes",
		"scope_missing",
		traits.Label+" tells nobody apart without the scope "+traits.RequiredScope+". Add it.",
	)
	return wrong
}

// providerConfig is an enabled provider of a client, ready to be asked.
func (s *Service) providerConfig(ctx context.Context, clientID, id string) (providers.Config, models.Provider, error) {
	tx := s.DB.Read(ctx)
	row, err := tx.ProviderByID(id)
	if err != nil && !isAbsent(err) {
		return providers.Config{}, row, fmt.Errorf("login: find the provider %s: %w", id, err)
	}
	if err != nil || row.ClientID != clientID || !row.Enabled {
		return providers.Config{}, row, fault.New(
			fault.NotFound, "provider_not_offered",
			"This way to sign in is no longer offered. Go back to the application and choose another.",
		)
	}
	config := providers.Config{
		Type:     row.Type,
		ClientID: row.AppID,
		Issuer:   row.Issuer,
		Scopes:   row.Scopes,
		Callback: s.Callback(clientID, id),
	}
	if config.WebPorts, err = s.heldByID(tx, clientID); err != nil {
		return config, row, err
	}
	if row.Managed {
		if s.Shared.ClientID == "" {
			return config, row, fault.New(
				fault.Unavailable, "managed_login_unavailable",
				"Signing in with GitHub is not set up here any more. Tell whoever runs this application.",
			)
		}
		config.ClientID, config.ClientSecret = s.Shared.ClientID, s.Shared.ClientSecret
		return config, row, nil
	}
	if row.ClientSecret != nil {
		if config.ClientSecret, err = s.Vault.Open(tx, secretPlace(id), row.ClientSecret); err != nil {
			return config, row, err
		}
	}
	return config, row, nil
}
