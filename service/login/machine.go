package login

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
)

var errUnauthorizedClient = fault.New(fault.Malformed, "unauthorized_client", "this client is frozen, or its "+
	"grant_types don't allow this grant")

// refreshes reports whether a client's logins can be refreshed.
func refreshes(client models.AppClient) bool {
	return client.RefreshTokenSeconds > 0 && slices.Contains(client.GrantTypes, snapshot.RefreshToken)
}

// issueToClient gives an app client a token for itself (RFC 6749, 4.4). Without a scope it has all API scopes that the
// client may request. There is neither a refresh token nor an ID token: there is no user.
func (s *Service) issueToClient(ctx context.Context, client models.AppClient, in TokenInput) (Tokens, error) {
	offered, err := apisOf(s.DB.Read(ctx), client)
	if err != nil {
		return Tokens{}, fmt.Errorf("login: API scopes of %s: %w", client.ID, err)
	}
	asked := in.Scope
	if targets, known := offered.named(in.Resources); asked == "" && known {
		asked = strings.Join(targets.names(client), " ")
	}
	scope, err := offered.grant(client, asked, in.Resources, nil)
	if err != nil {
		return Tokens{}, err
	}
	if scope == "" && in.Scope != "" {
		return Tokens{}, errNoScope // a token that no API takes would only hide the mistake
	}
	key, err := s.signer(ctx, client)
	if err != nil {
		return Tokens{}, err
	}
	claims := AccessClaims{
		Claims:   s.claims(client, client.ID, time.Now()),
		ClientID: client.ID,
		Scope:    scope,
		Tenant:   client.TenantID,
		Upstream: contract.ServiceToken,
	}
	claims.ID, claims.Audience = models.NewID("jti"), offered.audience(client, scope, in.Resources)
	out := Tokens{Scope: scope, Expires: client.AccessTokenSeconds}
	out.Access, err = key.sign(accessType, claims)
	return out, err
}
