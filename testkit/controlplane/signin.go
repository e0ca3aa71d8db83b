package controlplane

import (
	"testing"
	"time"

	"postern/models"
)

// signIn gives an end user a session at an app client and a consent to it. It returns the
// session's id.
func (o *Fixture) signIn(t testing.TB, user, client, provider string) string {
	t.Helper()
	now := models.Now()
	session := models.LoginSession{
		ID:         models.NewID("ses"),
		ClientID:   client,
		UserID:     user,
		ProviderID: provider,
		Scope:      "openid email",
		CreatedAt:  now,
		ExpiresAt:  now.Add(time.Hour),
	}
	must(t, o.DB.Write(t.Context(), func(tx *models.Tx) error {
		consent := models.LoginConsent{
			UserID:    user,
			ClientID:  client,
			Scope:     session.Scope,
			CreatedAt: now,
			UpdatedAt: now,
		}
		if err := tx.SaveLoginConsent(consent); err != nil {
			return err
		}
		return tx.Insert(&session)
	}))
	return session.ID
}
