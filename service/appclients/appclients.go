// Package appclients owns the app clients of hosted login and the identity providers that they offer: their settings,
// the rules for these, and the groups that a provider's claims lead to. It decides whether a project can serve
// providers together, and creates app clients with a project or from an exported zip.
//
// It leaves sign-ins, sessions and signing keys to service/login, which asks it for the settings, the kinds of
// providers to login/providers, and tests of providers to service/diagnostics.
package appclients

import (
	"context"
	"log/slog"
	"net/url"
	"time"

	"postern/core/snapshot"
	"postern/models"
	"postern/platform/secrets"
	"postern/service/directory"
	"postern/service/login/providers"
)

// Lifetimes of tokens.
const (
	minAccess  = time.Minute
	maxRefresh = 90 * 24 * time.Hour

	defaultAccess  = 10 * time.Minute
	defaultRefresh = 30 * 24 * time.Hour
)

// Targets checks addresses that customers configure (egress.Guard).
type Targets interface {
	CheckTarget(ctx context.Context, raw string) (*url.URL, error)
}

// Shared is the installation's own OAuth app at GitHub; empty if it doesn't have one.
type Shared struct {
	ClientID     string
	ClientSecret secrets.Secret
}

// Service has the rules for app clients and providers. Changed is called after each change that gateways must load, and
// returns when it is in effect in this process.
type Service struct {
	DB        *models.DB
	Vault     *secrets.Vault
	Providers *providers.Set
	Targets   Targets
	PublicURL string // of the control plane, without a slash at the end
	Shared    Shared
	Changed   func(context.Context)
	Events    directory.Events // of users who leave groups; nil for none
	Log       *slog.Logger

	// CapUnclaimed restricts app clients of unclaimed workspaces: their issuers are on
	// ports 80 and 443, their pages have no branding, and every redirect to the
	// application needs a click.
	CapUnclaimed bool
}

// Issuer returns an app client's issuer identifier.
func (s *Service) Issuer(clientID string) string { return snapshot.IssuerOf(s.PublicURL, clientID) }

// redirectURI returns the redirect URI to register with a provider. Each provider has its
// own, so that the answer of one cannot be taken for another's (RFC 9700, 4.4).
func (s *Service) redirectURI(clientID, providerID string) string {
	return s.Issuer(clientID) + "/callback/" + providerID
}
