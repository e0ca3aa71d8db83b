// Package login is the OpenID Connect issuer of each app client: people sign in at
// a provider that the client offers, and the client gets tokens.
//
// It owns app clients, their providers and signing keys, the way of a login from
// the authorization request to the tokens, and what is refused on it. It does not
// own what differs between providers (login/providers), who a person is in a tenant
// (directory), pages and status codes (handlers), nor what a token opens (policy).
//
// It follows OAuth 2.0 (RFC 6749) as RFC 9700 narrows it: the authorization code
// with PKCE S256 alone (RFC 7636), redirect URIs compared byte by byte, iss in every
// answer (RFC 9207), refresh tokens that rotate; OpenID Connect Core, Discovery and
// RP-Initiated Logout 1.0; access tokens as RFC 9068 has them.
//
// A provider's tokens are in no table: they travel to the client sealed in the code
// and are opened when it is exchanged. That is why this is not built on ory/fosite,
// whose store keeps each request with its session: two grants on go-jose are less
// than what would have to be turned off there, and each client can be an issuer.
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
	"postern/service/login/providers"
)

// How long a login may take, and what it leaves may be used.
const (
	attemptTTL = 10 * time.Minute
	codeTTL    = time.Minute

	MinAccess  = time.Minute
	MaxAccess  = snapshot.MaxAccess
	MaxRefresh = 90 * 24 * time.Hour

	DefaultAccess  = 10 * time.Minute
	DefaultRefresh = 30 * 24 * time.Hour
)

// Targets judges addresses that a customer names (egress.Guard).
type Targets interface {
	CheckTarget(ctx context.Context, raw string) (*url.URL, error)
}

// Shared is the installation's own OAuth app at GitHub; empty where it has none.
type Shared struct {
	ClientID     string
	ClientSecret secrets.Secret
}

// Service is the room's door. Changed is called after each change that a gateway
// has to know, and returns when it is in effect in this process.
type Service struct {
	DB        *models.DB
	Vault     *secrets.Vault
	Providers *providers.Set
	Targets   Targets
	PublicURL string // of the control plane, without a slash at the end
	Shared    Shared
	Changed   func(context.Context)
	Log       *slog.Logger

	CapUnclaimed bool // of unclaimed workspaces: issuers are on ports 80 and 443, pages have no face of their own, and nobody is sent on from them unasked

	opened   keyCache
	dataKeys secrets.KeptKeys
}

// Issuer is an app client's issuer.
func (s *Service) Issuer(clientID string) string { return snapshot.IssuerOf(s.PublicURL, clientID) }

// RedirectURI returns the redirect URI to register with a provider. Each provider has its
// own, so that the answer of one cannot be taken for another's (RFC 9700, 4.4).
func (s *Service) RedirectURI(clientID, providerID string) string {
	return s.Issuer(clientID) + "/callback/" + providerID
}

// newSecret makes 256 random bits as text.
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

// teamOf is the team that a tenant belongs to.
func teamOf(tx *models.Tx, tenantID string) (models.Tenant, string, error) {
	tenant, err := tx.TenantByID(tenantID)
	if err != nil {
		return tenant, "", err
	}
	if tenant.TeamID != nil {
		return tenant, *tenant.TeamID, nil
	}
	if tenant.ProjectID == nil {
		return tenant, "", fmt.Errorf("login: the tenant %s belongs to nobody", tenantID)
	}
	project, err := tx.ProjectByID(*tenant.ProjectID)
	return tenant, project.TeamID, err
}

// notFound tells what is absent apart from what failed.
func notFound(err error) error {
	if isAbsent(err) {
		return access.NotFound()
	}
	return err
}

var errChanged = fault.New(fault.Conflict, "changed_meanwhile", "Somebody else changed this at the same time. Look "+
	"at it and try again.")
