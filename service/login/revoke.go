package login

import (
	"context"
	"errors"
	"fmt"

	"postern/models"
	"postern/platform/secrets"
)

// Revoke ends the session that a refresh or access token of the client belongs to (RFC
// 7009, 2.1). Any other token counts as revoked already (2.2), including a provider's
// token, which only the provider can revoke. token_type_hint is not needed.
//
// Access tokens of the session are refused at once by gateways and where the session is
// looked up, such as userinfo. Other resource servers, which verify signatures only, accept
// them until they expire (3).
func (s *Service) Revoke(ctx context.Context, in Credentials, token string) error {
	client, err := s.authenticate(ctx, in)
	if err != nil {
		return err
	}
	if token == "" {
		return errRequest
	}
	var access AccessClaims
	err = s.verify(ctx, client.ID, accessType, token, &access) // also one that has expired
	if err != nil && !errors.Is(err, errToken) {
		return fmt.Errorf("login: revoke: %w", err)
	}
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		session := access.Session
		if session == "" {
			grant, err := tx.LoginGrantByHash(kindRefresh, secrets.Digest(token))
			if isAbsent(err) {
				return nil
			}
			if err != nil {
				return err
			}
			session = grant.SessionID
		}
		row, err := tx.LoginSessionByID(session)
		if isAbsent(err) || (err == nil && row.ClientID != client.ID) {
			return nil
		}
		if err != nil {
			return err
		}
		return signOut(tx, client, row, models.Now())
	})
	if err != nil {
		return fmt.Errorf("login: revoke: %w", err)
	}
	s.Changed(ctx)
	return nil
}
