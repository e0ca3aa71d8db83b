// Package login implements hosted login: each app client is an OpenID Connect issuer,
// whose users sign in at a provider that the client offers.
//
// It owns a login from the authorization request to the tokens, with its attempts, codes, sessions, consents and the
// signing keys of app clients, and the invitations of an app client. It leaves app clients and the settings of their
// providers to service/appclients, the kinds of providers to login/providers, users to service/directory, pages to the
// handlers, and tokens' rights to core/policy.
package login

import (
	"context"
	"log/slog"
	"time"

	"postern/models"
	"postern/platform/secrets"
	"postern/service/appclients"
	"postern/service/directory"
)

// Lifetimes of an attempt and of a code.
const (
	attemptTTL = 10 * time.Minute
	codeTTL    = time.Minute
)

// Service implements hosted login. Changed is called after each change that gateways
// must load, and returns when it is in effect in this process.
//
// It follows OAuth 2.0 (RFC 6749) as RFC 9700 narrows it: the authorization code grant
// with PKCE S256 only (RFC 7636), redirect URIs compared byte by byte, iss in every
// authorization response (RFC 9207), refresh token rotation; OpenID Connect Core,
// Discovery and RP-Initiated Logout 1.0; access tokens by RFC 9068. ory/fosite is not
// used because its store keeps each request with its session.
type Service struct {
	Clients *appclients.Service // whose other fields are the same
	DB      *models.DB
	Vault   *secrets.Vault
	Changed func(context.Context)
	Events  directory.Events // of sign-ins and consents; nil for none
	Log     *slog.Logger

	opened   keyCache
	dataKeys secrets.KeptKeys
}

// New returns hosted login for app clients, with the parts that these have.
func New(clients *appclients.Service) *Service {
	return &Service{
		Clients: clients,
		DB:      clients.DB,
		Vault:   clients.Vault,
		Changed: clients.Changed,
		Events:  clients.Events,
		Log:     clients.Log,
	}
}

// Issuer returns an app client's issuer identifier.
func (s *Service) Issuer(clientID string) string { return s.Clients.Issuer(clientID) }
