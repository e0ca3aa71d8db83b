package login

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"

	"postern/core/snapshot"
	"postern/models"
	"postern/platform/secrets"
	"postern/service/directory"
)

// Introspection describes a token of an issuer (RFC 7662, 2.2). The zero value is the
// answer for a token that is not active, which says nothing else.
type Introspection struct {
	Active    bool         `json:"active"`
	Scope     string       `json:"scope,omitempty"`
	ClientID  string       `json:"client_id,omitempty"`
	TokenType string       `json:"token_type,omitempty"` // Bearer or refresh_token
	Expires   int64        `json:"exp,omitempty"`        // seconds since 1970
	IssuedAt  int64        `json:"iat,omitempty"`
	Subject   string       `json:"sub,omitempty"`
	Audience  jwt.Audience `json:"aud,omitempty"`
	Issuer    string       `json:"iss,omitempty"`
	ID        string       `json:"jti,omitempty"`
	Session   string       `json:"sid,omitempty"`
	Tenant    string       `json:"tenant,omitempty"`
	Groups    []string     `json:"groups,omitempty"`

	GroupsTruncated bool `json:"groups_truncated,omitempty"` // see userGroups

	AuthenticationClaims
}

// Introspect describes an access or refresh token of the client's issuer. A token of
// another client, and one that is expired, revoked, or of a user or provider that is
// frozen or deleted, is not active: the caller cannot tell these cases apart (RFC 7662,
// 4). Only a client with a secret may ask (2.1); a public client gets invalid_client.
func (s *Service) Introspect(ctx context.Context, in Credentials, token string) (Introspection, error) {
	client, err := s.authenticate(ctx, in)
	if err != nil {
		return Introspection{}, err
	}
	if client.SecretHash == nil {
		return Introspection{}, errClient.Because(errors.New("a public client requested introspection"))
	}
	if token == "" {
		return Introspection{}, errRequest
	}
	var found Introspection
	var access AccessClaims
	switch err := s.verify(ctx, client.ID, accessType, token, &access); {
	case err == nil:
		found, err = s.introspectAccess(ctx, client, access)
		if err != nil {
			return Introspection{}, fmt.Errorf("login: introspect: %w", err)
		}
	case errors.Is(err, errToken):
		if found, err = s.introspectRefresh(ctx, client, token); err != nil {
			return Introspection{}, fmt.Errorf("login: introspect: %w", err)
		}
	default:
		return Introspection{}, fmt.Errorf("login: introspect: %w", err)
	}
	return found, nil
}

// introspectAccess describes an access token whose signature was verified.
func (s *Service) introspectAccess(
	ctx context.Context, client models.AppClient, claims AccessClaims,
) (Introspection, error) {
	if !s.holds(client, claims) {
		return Introspection{}, nil
	}
	if claims.Subject == client.ID {
		if !slices.Contains(client.GrantTypes, snapshot.ClientCredentials) {
			return Introspection{}, nil
		}
	} else if _, _, live, err := liveSession(s.DB.Read(ctx), client.ID, claims.Session); err != nil || !live {
		return Introspection{}, err
	}
	return Introspection{
		Active:    true,
		Scope:     claims.Scope,
		ClientID:  client.ID,
		TokenType: "Bearer",
		Expires:   claims.Expiry.Time().Unix(),
		IssuedAt:  claims.IssuedAt.Time().Unix(),
		Subject:   claims.Subject,
		Audience:  claims.Audience,
		Issuer:    claims.Issuer,
		ID:        claims.ID,
		Session:   claims.Session,
		Tenant:    claims.Tenant,
		Groups:    claims.Groups,

		GroupsTruncated: claims.GroupsTruncated,

		AuthenticationClaims: claims.AuthenticationClaims,
	}, nil
}

// holds reports whether an access token whose signature was verified is the client's and
// has not expired. aud may name APIs alone.
func (s *Service) holds(client models.AppClient, claims AccessClaims) bool {
	err := claims.ValidateWithLeeway(jwt.Expected{
		Issuer: s.Issuer(client.ID),
		Time:   time.Now(),
	}, 0)
	return err == nil && client.FrozenAt == nil && claims.ClientID == client.ID && claims.Expiry != nil &&
		claims.IssuedAt != nil
}

// introspectRefresh describes a refresh token. One that was used is not active.
func (s *Service) introspectRefresh(
	ctx context.Context, client models.AppClient, token string,
) (Introspection, error) {
	tx := s.DB.Read(ctx)
	grant, err := tx.LoginGrantByHash(kindRefresh, secrets.Digest(token))
	if isAbsent(err) {
		return Introspection{}, nil
	}
	if err != nil {
		return Introspection{}, err
	}
	session, user, live, err := liveSession(tx, client.ID, grant.SessionID)
	if err != nil || !live || grant.UsedAt != nil || !grant.ExpiresAt.After(models.Now()) {
		return Introspection{}, err
	}
	return Introspection{
		Active:    true,
		Scope:     cmp.Or(grant.Scope, session.Scope),
		ClientID:  client.ID,
		TokenType: "refresh_token", // an upstream that asks for Bearer refuses it
		Expires:   grant.ExpiresAt.Unix(),
		IssuedAt:  grant.CreatedAt.Unix(),
		Subject:   user.ID,
		Issuer:    s.Issuer(client.ID),
		Session:   session.ID,
		Tenant:    client.TenantID,
	}, nil
}

// liveSession returns a client's session with its user, and whether its tokens hold: it
// has not ended, its provider is there, and its user is active.
func liveSession(
	tx *models.Tx, clientID, id string,
) (session models.LoginSession, user models.EndUser, live bool, err error) {
	session, err = tx.LoginSessionByID(id)
	if isAbsent(err) || err == nil && (session.EndedAt != nil || session.ClientID != clientID) {
		return session, user, false, nil
	}
	if err != nil {
		return session, user, false, err
	}
	// Deleting a provider ends the sign-ins of its users.
	if _, err = tx.ProviderByID(session.ProviderID); err != nil {
		return session, user, false, unlessAbsent(err)
	}
	if user, err = tx.EndUserByID(session.UserID); err != nil {
		return session, user, false, unlessAbsent(err)
	}
	return session, user, user.State == directory.Active, nil
}

// unlessAbsent returns err, or nil if it says that there is no such row.
func unlessAbsent(err error) error {
	if isAbsent(err) {
		return nil
	}
	return err
}
