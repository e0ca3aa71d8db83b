package providers

import (
	"cmp"
	"context"
	"net/url"
	"regexp"
	"strings"

	"golang.org/x/oauth2"

	"postern/core/contract"
	"postern/platform/federation"
)

// microsoft is the Microsoft identity platform, version 2.0
// (learn.microsoft.com/entra/identity-platform/v2-protocols-oidc). tid and oid identify a
// user, as its page on ID token claims advises: sub differs between applications, and a
// tenant's administrator can change addresses.
type microsoft struct{}

func (microsoft) traits() Traits {
	return Traits{
		Label:         contract.ProviderTypeLabel(Microsoft),
		Scopes:        []string{"openid", "profile", "email"},
		TakesIssuer:   true,
		HasIDToken:    true,
		RequiredScope: "openid",

		TellsAuthTime: true,
	}
}

var guid = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// personalTenant is the tenant of accounts that belong to no organization.
const personalTenant = "9188040d-6c67-4c5b-b112-36a304b66dad"

// authority returns the configured authority, or the one for accounts of any tenant.
func (microsoft) authority(s *Set, c Config) string {
	return cmp.Or(c.Issuer, cmp.Or(s.MicrosoftURL, "https://login.microsoftonline.com")+"/common/v2.0")
}

// multiTenant reports whether the authority is for several tenants: its discovery
// document has a placeholder where ID tokens have the tenant. base is scheme and host.
func (m microsoft) multiTenant(authority string) (base string, multi bool) {
	u, err := url.Parse(authority)
	if err != nil {
		return "", false
	}
	segment, _, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
	return u.Scheme + "://" + u.Host, segment == "common" || segment == "organizations"
}

// discover returns the authority's document. That of an authority for several tenants
// states an issuer with a placeholder.
func (m microsoft) discover(ctx context.Context, s *Set, c Config) (discovery, error) {
	authority, name := m.discoveredAt(s, c)
	return s.discover(ctx, c, authority, name)
}

func (m microsoft) endpoint(ctx context.Context, s *Set, c Config) (oauth2.Endpoint, error) {
	found, err := m.discover(ctx, s, c)
	if err != nil {
		return oauth2.Endpoint{}, err
	}
	return m.endpointIn(c, found.Issuer), nil
}

func (microsoft) endpointIn(c Config, found *federation.Issuer) oauth2.Endpoint {
	endpoint := found.Endpoint(c.ClientSecret != "")
	endpoint.AuthStyle = oauth2.AuthStyleInParams
	return endpoint
}

// parameters: prompt has one value at a time, of which login asks for the account too, and
// login_hint is taken (learn.microsoft.com/entra/identity-platform/
// v2-oauth2-auth-code-flow#request-an-authorization-code). max_age is not documented: a new
// authentication satisfies any. auth_time is an optional claim, which the app's
// registration has to name (learn.microsoft.com/entra/identity-platform/
// optional-claims-reference).
func (microsoft) parameters(r Request) []oauth2.AuthCodeOption {
	prompt := ""
	switch {
	case r.Prompt.Login || r.MaxAge != nil:
		prompt = "login"
	case r.Prompt.SelectAccount:
		prompt = "select_account"
	}
	return parameters("prompt", prompt, "login_hint", r.LoginHint)
}

func (m microsoft) identify(ctx context.Context, s *Set, c Config, e exchange) (federation.Identity, error) {
	found, err := m.discover(ctx, s, c)
	if err != nil {
		return federation.Identity{}, err
	}
	authority := m.authority(s, c)
	base, multi := m.multiTenant(authority)
	client := s.relyingParty(c)
	client.Policy.TenantIssuers = multi
	claims, err := client.Verify(ctx, found.Issuer, e.attempt, e.iss, e.token)
	if err != nil {
		return federation.Identity{}, faultOf(c, err)
	}
	tenant, object := string(claims.TenantID), string(claims.ObjectID)
	switch {
	case !guid.MatchString(tenant) || !guid.MatchString(object):
		return federation.Identity{}, refusedAnswer(c, "its ID token lacks tid or oid")
	case claims.Issuer != base+"/"+tenant+"/v2.0":
		return federation.Identity{}, refusedAnswer(c, "its ID token's issuer doesn't match its tid")
	case tenant == personalTenant && strings.Contains(authority, "/organizations/"):
		return federation.Identity{}, refusedAnswer(c, "a personal account, where only organizations may sign in")
	}
	directoryID := ""
	if !multi && tenant != personalTenant {
		directoryID = object // which Entra sends as externalId where it is mapped so; see docs/scim-entra.md
	}
	verified, domain := microsoftEmail(c, claims, !multi)
	identity := federation.Identity{
		Issuer:        base,
		Subject:       tenant + "." + object,
		Email:         string(claims.Email),
		EmailVerified: verified,
		Name:          policy.DisplayName(claims),
		Domain:        domain,
		DirectoryID:   directoryID,

		Authentication: claims.Authentication(),
		Profile:        federation.ProfileOf(claims.All),
	}
	if client.ReadsClaims() {
		identity.Claims = &claims.All // Graph's userinfo has no more of them
	}
	return identity, nil
}
