package providers

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"postern/platform/federation"
	"postern/service/login/tokencheck"
)

// prefixes: tokens of organizations are JSON Web Tokens, those of personal accounts have
// no documented form.
func (microsoft) prefixes() []string { return nil }

// tenantOf returns the tenant of an issuer, "" for an issuer that is not Microsoft's. ID
// tokens and access tokens of version 2.0 name one below the authority's host, those
// of 1.0 one of the service that issues them (learn.microsoft.com/entra/
// identity-platform/access-tokens#token-formats).
func (m microsoft) tenantOf(s *Set, c Config, issuer string) string {
	if tenant, ok := strings.CutPrefix(issuer, cmp.Or(s.MicrosoftSTS, "https://sts.windows.net")+"/"); ok {
		return onlyGUID(strings.TrimSuffix(tenant, "/"))
	}
	base, _ := m.multiTenant(m.authority(s, c))
	tenant, ok := strings.CutPrefix(issuer, base+"/")
	if !ok {
		return ""
	}
	return onlyGUID(strings.TrimSuffix(tenant, "/v2.0"))
}

func onlyGUID(s string) string {
	if guid.MatchString(s) {
		return s
	}
	return ""
}

// ownTenant returns the id of a single-tenant authority, "" if it is not written as an id.
func (m microsoft) ownTenant(s *Set, c Config) string {
	u, err := url.Parse(m.authority(s, c))
	if err != nil {
		return ""
	}
	segment, _, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
	return onlyGUID(segment)
}

func (m microsoft) issues(s *Set, c Config, issuer string) bool {
	tenant, own := m.tenantOf(s, c, issuer), m.ownTenant(s, c)
	return tenant != "" && (own == "" || own == tenant)
}

func (m microsoft) names(s *Set, c Config) string {
	base, _ := m.multiTenant(m.authority(s, c))
	return base + "/" + cmp.Or(m.ownTenant(s, c), personalTenant) + "/v2.0"
}

// ownerOfAccess verifies a token for the app's own API with Microsoft's keys, and one for
// Graph by asking Graph, which alone can verify those (learn.microsoft.com/entra/
// identity-platform/access-tokens#validate-tokens). Once Graph has accepted a token, its
// claims can be trusted, because the signature covers them.
func (m microsoft) ownerOfAccess(ctx context.Context, s *Set, c Config, token string) (federation.Identity, error) {
	claims, jwt := readToken(token)
	if !jwt {
		return federation.Identity{}, fmt.Errorf("a personal account's token is opaque: %w", tokencheck.ErrUnverifiable)
	}
	app := cmp.Or(claims.AppID, claims.AuthorizedParty)
	if app != c.ClientID || !claims.issuedTo(c.ClientID) || !claims.isCurrent() {
		return federation.Identity{}, fmt.Errorf("it belongs to another app or isn't valid now: "+
			"%w", tokencheck.ErrRefused)
	}
	found, err := m.discoverForCall(ctx, s, c)
	if err != nil {
		return federation.Identity{}, err
	}
	for _, own := range claims.Audience {
		if own == c.ClientID || own == "api://"+c.ClientID {
			if _, err := found.verifyToken(ctx, s, c, claims.Issuer, token, false); err != nil {
				return federation.Identity{}, err
			}
			return m.person(s, c, found, claims)
		}
	}
	ask, err := tokencheck.Get(ctx, found.UserInfo, token)
	if err != nil {
		return federation.Identity{}, err
	}
	answer, err := tokencheck.Send(s.client(), ask)
	if err != nil {
		return federation.Identity{}, err
	}
	if answer.Status == http.StatusUnauthorized || answer.Status == http.StatusForbidden {
		return federation.Identity{}, fmt.Errorf("userinfo refuses it: %w", tokencheck.ErrRefused)
	}
	var user struct {
		Subject string `json:"sub"`
	}
	if err := answer.Read(&user); err != nil {
		return federation.Identity{}, err
	}
	if user.Subject == "" {
		return federation.Identity{}, fmt.Errorf("userinfo has no subject: %w", tokencheck.ErrBadAnswer)
	}
	return m.person(s, c, found, claims)
}

func (m microsoft) ownerOfID(ctx context.Context, s *Set, c Config, token string) (federation.Identity, error) {
	claims, _ := readToken(token)
	found, err := m.discoverForCall(ctx, s, c)
	if err != nil {
		return federation.Identity{}, err
	}
	if _, err := found.verifyToken(ctx, s, c, claims.Issuer, token, true); err != nil {
		return federation.Identity{}, err
	}
	return m.person(s, c, found, claims)
}

func (m microsoft) discoverForCall(ctx context.Context, s *Set, c Config) (discovery, error) {
	found, err := m.discover(ctx, s, c)
	return found, askError(err)
}

// person returns the user of a verified token. All tenants sign with the same keys, so the
// issuer must be that of tid, and a tenant that may sign in.
func (m microsoft) person(s *Set, c Config, found discovery, claims tokenClaims) (federation.Identity, error) {
	authority := m.authority(s, c)
	base, multi := m.multiTenant(authority)
	switch {
	case !guid.MatchString(claims.TenantID) || !guid.MatchString(claims.ObjectID),
		m.tenantOf(s, c, claims.Issuer) != claims.TenantID,
		!multi && found.Name != base+"/"+claims.TenantID+"/v2.0",
		claims.TenantID == personalTenant && strings.Contains(authority, "/organizations/"):
		return federation.Identity{}, fmt.Errorf("its tenant isn't allowed to sign in: %w", tokencheck.ErrRefused)
	}
	return federation.Identity{Issuer: base, Subject: claims.TenantID + "." + claims.ObjectID}, nil
}
