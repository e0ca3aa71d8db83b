// Package login implements hosted login: each app client is an OpenID Connect issuer,
// whose users sign in at a provider that the client offers.
//
// It owns app clients, their providers and signing keys, and a login from the
// authorization request to the tokens. It leaves the kinds of providers to
// login/providers, users to directory, pages to the handlers, and tokens' rights to policy.
package login

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/service/access"
	"postern/service/directory"
	"postern/service/login/providers"
)

// Lifetimes of an attempt, of a code, and of tokens.
const (
	attemptTTL = 10 * time.Minute
	codeTTL    = time.Minute

	MinAccess  = time.Minute
	MaxAccess  = snapshot.MaxAccess
	MaxRefresh = 90 * 24 * time.Hour

	DefaultAccess  = 10 * time.Minute
	DefaultRefresh = 30 * 24 * time.Hour
)

// Targets checks addresses that customers configure (egress.Guard).
type Targets interface {
	CheckTarget(ctx context.Context, raw string) (*url.URL, error)
}

// Shared is the installation's own OAuth app at GitHub; empty where it has none.
type Shared struct {
	ClientID     string
	ClientSecret secrets.Secret
}

// Service implements hosted login. Changed is called after each change that gateways
// must load, and returns when it is in effect in this process.
//
// It follows OAuth 2.0 (RFC 6749) as RFC 9700 narrows it: the authorization code grant
// with PKCE S256 only (RFC 7636), redirect URIs compared byte by byte, iss in every
// authorization response (RFC 9207), refresh token rotation; OpenID Connect Core,
// Discovery and RP-Initiated Logout 1.0; access tokens by RFC 9068. ory/fosite is not
// used because its store keeps each request with its session.
type Service struct {
	DB        *models.DB
	Vault     *secrets.Vault
	Providers *providers.Set
	Targets   Targets
	PublicURL string // of the control plane, without a slash at the end
	Shared    Shared
	Changed   func(context.Context)
	Events    directory.Events // of sign-ins and consents; nil for none
	Log       *slog.Logger

	// CapUnclaimed restricts app clients of unclaimed workspaces: their issuers are on
	// ports 80 and 443, their pages have no branding, and every redirect to the
	// application needs a click.
	CapUnclaimed bool

	opened   keyCache
	dataKeys secrets.KeptKeys
}

// Issuer returns an app client's issuer identifier.
func (s *Service) Issuer(clientID string) string { return snapshot.IssuerOf(s.PublicURL, clientID) }

// RedirectURI returns the redirect URI to register with a provider. Each provider has its
// own, so that the answer of one cannot be taken for another's (RFC 9700, 4.4).
func (s *Service) RedirectURI(clientID, providerID string) string {
	return s.Issuer(clientID) + "/callback/" + providerID
}

// newSecret returns 256 random bits, base64url encoded.
func newSecret() string {
	var b [32]byte
	if _, err := rand.Read(b[:]); err != nil {
		panic(fmt.Sprintf("login: no randomness: %v", err))
	}
	return base64.RawURLEncoding.EncodeToString(b[:])
}

func hash(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// teamOf returns a tenant and the id of the team that owns it.
func teamOf(tx *models.Tx, tenantID string) (models.Tenant, string, error) {
	tenant, err := tx.TenantByID(tenantID)
	if err != nil {
		return tenant, "", err
	}
	team, err := access.TeamOf(tx, tenant)
	return tenant, team, err
}

// notFound turns a missing row into the fault NotFound.
func notFound(err error) error {
	if isAbsent(err) {
		return access.NotFound()
	}
	return err
}

var errChanged = fault.New(fault.Conflict, "changed_meanwhile",
	"This was changed at the same time. Reload it and try again.")
