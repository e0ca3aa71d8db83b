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
	"postern/service/access"
)

// The grant types of app clients besides snapshot.ClientCredentials (RFC 7591, 2).
const (
	authorizationCode = "authorization_code"
	refreshToken      = "refresh_token"
)

var allGrantTypes = []string{authorizationCode, refreshToken, snapshot.ClientCredentials}

var errUnauthorizedClient = fault.New(fault.Malformed, "unauthorized_client", "this client is frozen, or may not get "+
	"tokens in this way: see its grant_types")

// refreshes reports whether a client's logins can be refreshed.
func refreshes(client models.AppClient) bool {
	return client.RefreshTokenSeconds > 0 && slices.Contains(client.GrantTypes, refreshToken)
}

// applyGrantTypes sets the grant types, unless they are nil, and returns those that the client cannot have.
func applyGrantTypes(row *models.AppClient, set *[]string) []fault.Field {
	if set != nil {
		row.GrantTypes = slices.Clone(*set)
	}
	var wrong []fault.Field
	refuse := func(pointer, code, detail string) {
		wrong = append(wrong, fault.Field{Pointer: pointer, Code: code, Detail: detail})
	}
	if set != nil && len(row.GrantTypes) == 0 {
		refuse("/grant_types", "required", "Name at least one of "+strings.Join(allGrantTypes, ", ")+".")
	}
	for i, one := range row.GrantTypes {
		pointer := fmt.Sprintf("/grant_types/%d", i)
		switch {
		case !slices.Contains(allGrantTypes, one):
			refuse(pointer, "unknown_grant_type", "Use "+strings.Join(allGrantTypes, ", ")+".")
		case slices.Contains(row.GrantTypes[:i], one):
			refuse(pointer, "duplicate", "This grant type is listed twice.")
		case one == refreshToken && !slices.Contains(row.GrantTypes, authorizationCode):
			refuse(pointer, "needs_authorization_code", "Refresh tokens come with logins: add authorization_code.")
		case one == snapshot.ClientCredentials && row.SecretHash == nil:
			refuse(pointer, "needs_secret", "A client that gets tokens for itself needs a secret: set confidential.")
		}
	}
	return wrong
}

// issueToClient gives an app client a token for itself (RFC 6749, 4.4). Without a scope it
// has all API scopes that the client may ask for. There is neither a refresh token nor an
// ID token: there is no user.
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

// FreezeClient refuses an app client and all of its tokens, at the issuer and at the
// gateway, until UnfreezeClient.
func (s *Service) FreezeClient(
	ctx context.Context, p access.Principal, in contract.AppClientPath,
) (contract.AppClient, error) {
	return s.setFrozen(ctx, p, in.Client, true)
}

// UnfreezeClient ends FreezeClient. Tokens that have not expired work again.
func (s *Service) UnfreezeClient(
	ctx context.Context, p access.Principal, in contract.AppClientPath,
) (contract.AppClient, error) {
	return s.setFrozen(ctx, p, in.Client, false)
}

func (s *Service) setFrozen(
	ctx context.Context, p access.Principal, id string, frozen bool,
) (contract.AppClient, error) {
	var out contract.AppClient
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		row, tenant, team, err := findClient(tx, p, id, access.LoginUpdate)
		if err != nil {
			return err
		}
		before := s.shownClient(row)
		if out = before; before.Frozen == frozen {
			return nil
		}
		now := models.Now()
		row.FrozenAt, row.UpdatedAt = nil, now
		if frozen {
			row.FrozenAt = &now
		}
		if err := tx.FreezeAppClient(row); err != nil {
			return err
		}
		out = s.shownClient(row)
		return s.changed(tx, p, tenant, access.Entry{
			Action: access.LoginUpdate,
			Object: id,
			Team:   team,
			Before: before,
			After:  out,
		})
	})
	if err != nil {
		return contract.AppClient{}, fmt.Errorf("login: freeze or unfreeze the app client %s: %w", id, err)
	}
	s.Changed(ctx)
	return out, nil
}
