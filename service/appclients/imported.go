package appclients

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/egress"
	"postern/platform/fault"
	"postern/service/login/providers"
)

// Imported is an app client that was read from a zip, as rows without the ids of its tenant.
type Imported struct {
	Client    models.AppClient
	Providers []models.Provider
	// Mappings are those of each provider, with the name of the group in GroupID.
	Mappings [][]models.GroupMapping
	Warnings []contract.Warning // about providers that had to be disabled
}

// The codes of warnings about imported providers.
const (
	WarnSecretMissing  = "provider_secret_missing"
	WarnManagedMissing = "managed_login_unavailable"
)

// ReadImported checks the app clients of one tenant, and returns their rows and the fields
// that break the rules of new ones. pointer is where the files of the tenant's login stand.
// A provider that needs its secret is disabled: the secret is not in the zip. It looks up
// host names, so it is called outside of transactions.
func (s *Service) ReadImported(
	ctx context.Context, pointer string, clients []snapshot.AppClient, now time.Time,
) ([]Imported, []fault.Field, error) {
	at := pointer + "/clients.json/clients"
	if len(clients) > maxClients {
		return nil, []fault.Field{{
			Pointer: at,
			Code:    "too_many_app_clients",
			Detail:  fmt.Sprintf("A tenant can have at most %d app clients.", maxClients),
		}}, nil
	}
	var out []Imported
	var wrong []fault.Field
	for i, c := range clients {
		here := fmt.Sprintf("%s/%d", at, i)
		row, fields := readImportedClient(c, now)
		wrong = append(wrong, below(here, fields)...)
		if slices.ContainsFunc(clients[:i], func(o snapshot.AppClient) bool { return o.Name == c.Name }) {
			wrong = append(wrong, fault.Field{
				Pointer: here + "/name", Code: "duplicate", Detail: "Two app clients have this name.",
			})
		}
		one := Imported{Client: row}
		if len(c.Providers) > maxProviders {
			wrong = append(wrong, fault.Field{
				Pointer: pointer + "/providers.json/providers",
				Code:    "too_many_providers",
				Detail:  fmt.Sprintf("An app client can have at most %d providers.", maxProviders),
			})
			continue
		}
		for _, p := range c.Providers {
			fields, err := s.readImportedProvider(ctx, &one, p, now)
			if err != nil {
				return nil, nil, fmt.Errorf("appclients: check the imported provider %s: %w", p.ID, err)
			}
			wrong = append(wrong, below(pointer+"/providers.json/"+pointerToken(p.ID), fields)...)
		}
		out = append(out, one)
	}
	return out, wrong, nil
}

// pointerToken escapes a member name for a JSON Pointer (RFC 6901, 3).
func pointerToken(s string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(s) }

func readImportedClient(c snapshot.AppClient, now time.Time) (models.AppClient, []fault.Field) {
	set := c.Settings
	row := models.AppClient{ID: c.ID, SecretHash: set.SecretHash, CreatedAt: set.CreatedAt, UpdatedAt: now}
	if c.Frozen {
		row.FrozenAt = &now
	}
	redirects, logouts, scopes := emptyForNil(set.RedirectURIs), emptyForNil(set.LogoutURIs), emptyForNil(set.APIScopes)
	grants := emptyForNil(set.GrantTypes)
	_, wrong := applyClient(&row, contract.AppClientChange{Name: &c.Name, AppClientSettings: contract.AppClientSettings{
		RedirectURIs:         &redirects,
		LogoutURIs:           &logouts,
		BackchannelLogoutURI: &set.BackchannelLogoutURI,
		APIScopes:            &scopes,
		GrantTypes:           &grants,
		PKCE:                 &set.PKCE,
		AccessTokenSeconds:   new(int64(set.AccessFor / time.Second)),
		RefreshTokenSeconds:  new(int64(set.RefreshFor / time.Second)),
		Algorithm:            &set.Algorithm,
		Branding: contract.BrandingChange{
			Title: &set.Title, Welcome: &set.Welcome, LogoURL: &set.LogoURL, Color: &set.Color,
		},
	}})
	for i, scope := range scopes {
		if !scopePattern.MatchString(scope) || slices.Contains(scopes[:i], scope) {
			wrong = append(wrong, fault.Field{
				Pointer: fmt.Sprintf("/api_scopes/%d", i),
				Code:    "invalid_scope",
				Detail:  "Use printable ASCII characters without spaces. List each scope once.",
			})
		}
	}
	return row, wrong
}

func emptyForNil(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// readImportedProvider adds a provider and its rules to the app client.
func (s *Service) readImportedProvider(
	ctx context.Context, to *Imported, p snapshot.Provider, now time.Time,
) ([]fault.Field, error) {
	set := p.Settings
	scopes, signIn := emptyForNil(set.Scopes), emptyForNil(set.SignInDomains)
	domains := emptyForNil(set.AuthoritativeDomains)
	in := contract.NewProvider{Type: p.Type, Managed: set.Managed, Issuer: p.Issuer}
	in.ProviderSettings = contract.ProviderSettings{
		TokenType:            contract.NewTokenType{Client: string(p.ClientToken), Upstream: string(p.UpstreamToken)},
		Label:                &set.Label,
		Audience:             &set.Audience,
		ResponseMode:         &set.ResponseMode,
		AuthoritativeDomains: &domains,
		SignInDomains:        &signIn,
	}
	if !set.Managed {
		in.ClientID, in.Scopes = &p.ClientID, &scopes
	}
	checked, err := s.checkAddress(ctx, in)
	if refusal, ok := errors.AsType[*fault.Error](err); ok && isOnlyUnresolved(refusal) {
		checked, err = in, nil // the guard judges the address whenever it is dialed
	}
	if err != nil {
		return fieldsOf(err)
	}
	row := models.Provider{
		ID:        p.ID,
		Type:      p.Type,
		Managed:   set.Managed,
		Issuer:    checked.Issuer,
		CreatedAt: set.CreatedAt,
		UpdatedAt: now,
	}
	row.Enabled = p.Enabled && s.worksHere(to, p)
	if err := s.fillImported(&row, checked.ProviderSettings); err != nil {
		return fieldsOf(err)
	}
	mappings, wrong := readImportedMappings(row, set.Mappings)
	wrong = append(wrong, readImportedEndpoints(&row, set.Endpoints)...)
	to.Providers, to.Mappings = append(to.Providers, row), append(to.Mappings, mappings)
	return wrong, nil
}

// isOnlyUnresolved reports whether an issuer was refused because its name has no address now.
func isOnlyUnresolved(refusal *fault.Error) bool {
	return len(refusal.Fields) == 1 && refusal.Fields[0].Code == egress.CodeUnresolvable
}

// fillImported is fill for a row that is disabled where it cannot work here. A managed provider is stored unchanged:
// its app may be set up here later.
func (s *Service) fillImported(row *models.Provider, in contract.ProviderSettings) error {
	if row.Managed && s.Shared.ClientID == "" && row.Type == providers.GitHub {
		return fillRow(row, in)
	}
	return s.fill(row, in)
}

// worksHere reports whether a provider can be enabled without the secret that it had, and
// warns of one that cannot.
func (s *Service) worksHere(to *Imported, p snapshot.Provider) bool {
	label := Label(models.Provider{Type: p.Type, Issuer: p.Issuer, Label: p.Settings.Label})
	traits, _ := providers.TraitsOf(p.Type)
	switch {
	case p.Settings.Managed && s.Shared.ClientID == "":
		to.Warnings = append(to.Warnings, contract.Warning{
			Code: WarnManagedMissing,
			Detail: "This server has no shared GitHub app, so the provider is disabled. Set one up with " +
				"--login-github-client-id, or add a provider with your own app.",
		})
		return false
	case !p.Settings.Managed && (p.Settings.HasSecret || traits.NeedsSecret):
		to.Warnings = append(to.Warnings, contract.Warning{
			Code: WarnSecretMissing,
			Detail: fmt.Sprintf("The zip doesn't contain the client secret of the provider %s, so the provider is "+
				"disabled. Enter the secret, register the new callback URL with the provider, and enable it.", label),
		})
		return false
	}
	return true
}

// readImportedMappings returns the rules of a provider, with the name of the group in GroupID.
func readImportedMappings(
	provider models.Provider, rules []snapshot.GroupMapping,
) ([]models.GroupMapping, []fault.Field) {
	if err := takesMappings(provider, make([]contract.GroupMapping, len(rules))); err != nil {
		wrong, _ := fieldsOf(err) // only a fault
		return nil, wrong
	}
	var rows []models.GroupMapping
	var wrong []fault.Field
	for i, one := range rules {
		row := models.GroupMapping{
			ProviderID: provider.ID,
			Position:   int64(i),
			Claim:      one.Claim,
			Value:      one.Value,
			Match:      one.Match,
			GroupID:    one.Group,
		}
		wrong = append(wrong, below(fmt.Sprintf("%s/%d", mappingsPointer, i), checkMapping(provider, row))...)
		rows = append(rows, row)
	}
	return rows, wrong
}

// CheckImportedDomains refuses mail domains that lead to two providers of an app client. The
// providers have been written in tx.
func CheckImportedDomains(tx *models.Tx, rows []models.Provider) error {
	for _, row := range rows {
		if err := checkSignInDomains(tx, row); err != nil {
			return err
		}
	}
	return nil
}

// IsOfProvider reports whether an identity can be an account at the provider.
func IsOfProvider(identityIssuer string, p models.Provider) bool {
	begins := p.Type + ":"
	if p.Managed {
		begins = "managed-" + begins
	}
	return strings.HasPrefix(identityIssuer, begins)
}
