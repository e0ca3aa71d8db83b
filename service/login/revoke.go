package login

import (
	"context"
	"errors"
	"fmt"

	"postern/models"
)

// Revoke ends the session that a refresh or access token of the client's belongs to,
// with all that it could still get (RFC 7009, 2.1). What is no token of the client's
// is as good as revoked (2.2); that includes a provider's token that the client was
// handed, which only the provider can revoke. The kind of token need not be hinted at.
//
// An access token is checked by its signature wherever it goes, so it is refused at
// once where the session is looked up, such as userinfo, and elsewhere once it has
// expired (RFC 7009, 3).
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
			grant, err := tx.LoginGrantByHash(kindRefresh, hash(token))
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
		return tx.EndLoginSession(session, models.Now())
	})
	if err != nil {
		return fmt.Errorf("login: revoke: %w", err)
	}
	return nil
}
