package login

import (
	"encoding/base64"
	"time"

	"postern/models"
	"postern/platform/secrets"
	"postern/service/access"
)

// refreshLeeway is how long a refresh token that was used gives its successor again: to
// the second of two tabs, and to a client that lost the answer. After it, reuse ends the
// session.
const refreshLeeway = 30 * time.Second

func successorPlace(grant []byte) secrets.Place {
	return secrets.Place{
		Table:   "login_grants",
		Row:     base64.RawURLEncoding.EncodeToString(grant),
		Column:  "successor",
		Purpose: secrets.ForControl,
	}
}

// sealSuccessor seals the refresh token that follows the one whose hash is grant.
func (s *Service) sealSuccessor(
	tx *models.Tx, client models.AppClient, grant []byte, next string,
) (secrets.Sealed, error) {
	_, team, err := access.TenantAndTeam(tx, client.TenantID)
	if err != nil {
		return nil, err
	}
	return s.Vault.Seal(tx, team, successorPlace(grant), secrets.Secret(next))
}

// successorOf returns the refresh token that followed a used one, "" if that was used
// longer than refreshLeeway ago, or is a code. A successor that was used in turn, also
// within refreshLeeway, is passed over for its own: the two callers then hold the same
// refresh token, and neither ends the session of the other later.
func (s *Service) successorOf(tx *models.Tx, used []byte, now time.Time) (string, error) {
	found := ""
	for {
		// Read again: on PostgreSQL another request may have used the grant after this
		// one read it.
		grant, err := tx.LoginGrantByHash(kindRefresh, used)
		if isAbsent(err) {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		if grant.UsedAt == nil || now.Sub(*grant.UsedAt) > refreshLeeway || grant.Successor == nil {
			return found, nil
		}
		next, err := s.Vault.Open(tx, successorPlace(grant.Hash), grant.Successor)
		if err != nil {
			return "", err
		}
		found, used = next.Reveal(), secrets.Digest(next.Reveal())
	}
}

// refreshEnd returns until when a session's refresh tokens are good.
func refreshEnd(client models.AppClient, session models.LoginSession) time.Time {
	end := session.CreatedAt.Add(time.Duration(client.RefreshTokenSeconds) * time.Second)
	if end.After(session.ExpiresAt) {
		return session.ExpiresAt
	}
	return end
}
