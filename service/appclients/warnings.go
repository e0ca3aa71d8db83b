package appclients

import (
	"context"
	"fmt"
	"slices"

	"postern/core/contract"
	"postern/models"
	"postern/service/access"
	"postern/service/login/providers"
)

// The codes of the warnings about app clients.
const (
	WarnNoRedirectURI = "no_redirect_uri"
	WarnNoProvider    = "no_provider"
	WarnNoSecret      = "client_secret_missing"
	WarnOpaqueTokens  = "opaque_tokens_refused"
	WarnAlgorithm     = "algorithm_uncommon"
)

// Warnings returns warnings about surprising effects of the app clients of the tenants that a project serves.
func (s *Service) Warnings(ctx context.Context, p access.Principal, project string) ([]contract.Warning, error) {
	tx := s.DB.Read(ctx)
	row, err := access.Project(tx, p, project, access.LoginRead)
	if err != nil {
		return nil, fmt.Errorf("appclients: warnings of %s: %w", project, err)
	}
	clients, err := tx.AppClientsServed(row.ID)
	if err != nil {
		return nil, fmt.Errorf("appclients: warnings of %s: %w", project, err)
	}
	return s.warningsOf(tx, clients)
}

func (s *Service) warningsOf(tx *models.Tx, clients []models.AppClient) ([]contract.Warning, error) {
	var ids []string
	for _, client := range clients {
		ids = append(ids, client.ID)
	}
	rows, err := tx.ProvidersOfAll(ids)
	if err != nil {
		return nil, fmt.Errorf("appclients: the providers of app clients: %w", err)
	}
	offered := map[string][]contract.Provider{}
	for _, row := range rows {
		offered[row.AppClientID] = append(offered[row.AppClientID], s.shownProvider(row))
	}
	var out []contract.Warning
	for _, client := range clients {
		out = append(out, clientWarnings(s.Shown(client), offered[client.ID])...)
	}
	return out, nil
}

// clientWarnings returns those of one app client with its providers.
func clientWarnings(c contract.AppClient, all []contract.Provider) (out []contract.Warning) {
	offered := slices.DeleteFunc(slices.Clone(all), func(one contract.Provider) bool { return !one.Enabled })
	warn := func(code, detail string, args ...any) {
		out = append(out, contract.Warning{Code: code, Detail: fmt.Sprintf(detail, args...), About: c.ID})
	}
	if len(c.RedirectURIs) == 0 {
		warn(WarnNoRedirectURI, "Users can't sign in to the app client %s yet, because it has no redirect URI. Add "+
			"the URL where your application receives the code.", c.Name)
	}
	if len(offered) == 0 {
		warn(WarnNoProvider, "Users can't sign in to the app client %s yet, because it has no enabled provider.",
			c.Name)
	}
	for _, one := range offered {
		// developers.google.com/identity/protocols/oauth2/web-server#exchange-authorization-code:
		// client_secret is required of web applications, and only their redirect URIs can be https.
		if one.Type == providers.Google && !one.HasClientSecret {
			warn(WarnNoSecret, "The provider %s of the app client %s has no client secret. Google requires one for "+
				"web applications.", one.ShownLabel(), c.Name)
		}
		if one.Type == providers.OIDC && presentsAccess(one.TokenType) && !one.HasClientSecret {
			warn(WarnOpaqueTokens, "Calls with opaque access tokens from %s are refused, because checking them "+
				"requires the provider's client secret, which isn't set. Calls with JSON Web Tokens aren't "+
				"affected.", one.ShownLabel())
		}
	}
	return out
}

// settingWarnings returns those of settings themselves: strict clients expect the algorithm that every provider has to
// support (OpenID Connect Core 1.0, 15.1).
func settingWarnings(in contract.AppClientSettings) []contract.Warning {
	if in.Algorithm == nil || *in.Algorithm == contract.RS256 {
		return nil
	}
	return []contract.Warning{{
		Code: WarnAlgorithm,
		Detail: fmt.Sprintf("Strict OpenID Connect clients expect RS256. Check that your application supports %s.",
			*in.Algorithm),
	}}
}

// Warnings returns warnings about surprising effects of the login that InsertIn inserted.
func (u *Setup) Warnings() []contract.Warning { return clientWarnings(u.Client, u.Offered) }
