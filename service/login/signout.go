package login

import (
	"time"

	"postern/core/snapshot"
	"postern/models"
)

// signOutMargin is for clock differences, and for a token that is being signed while its
// session ends.
const signOutMargin = 10 * time.Minute

// signOut ends a session of a client, and has gateways refuse its access tokens. A session that has ended is left
// unchanged, so that a repeated request costs gateways nothing.
func signOut(tx *models.Tx, client models.AppClient, session models.LoginSession, now time.Time) error {
	if session.EndedAt != nil {
		return nil
	}
	if err := tx.BarLoginSession(session.ID, now, now.Add(lastToken(client, now))); err != nil {
		return err
	}
	tenant, err := tx.TenantByID(client.TenantID)
	if err != nil {
		return err
	}
	return tx.AddTenantRevisions(tenant, now)
}

// lastToken returns how long an access token of a client may still be accepted. Users sign
// out far more often than teams end sessions, and every session that is refused is part of
// the gateways' state, so that it is not BarredFor, but for a client whose tokens may have
// lasted longer until a moment ago.
func lastToken(client models.AppClient, now time.Time) time.Duration {
	if now.Sub(client.UpdatedAt) <= snapshot.BarredFor {
		return snapshot.BarredFor
	}
	return min(time.Duration(client.AccessTokenSeconds)*time.Second+signOutMargin, snapshot.BarredFor)
}
