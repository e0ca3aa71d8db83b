package pages_test

import (
	"strings"
	"testing"
	"time"

	"postern/models"
	"postern/service/directory"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// signedInUser inserts a user with two sessions and a consent at an app client of a tenant.
func signedInUser(t *testing.T, s *controlplane.Browser, db *models.DB, tenant string) (user, client string) {
	t.Helper()
	id := strings.TrimPrefix(tenant, "/tenants/")
	made := s.Post("/projects/shop/login", "tenant", id, "name", "web", "redirect_uris", "https://app.example.com/cb")
	at, _, _ := strings.Cut(made.Header.Get("Location"), "#")
	client = at[strings.LastIndex(at, "/")+1:]
	now := models.Now()
	err := db.Write(t.Context(), func(tx *models.Tx) error {
		row, _, err := directory.Provision(tx, directory.ExternalIdentity{
			Tenant:  strings.TrimPrefix(tenant, "/tenants/"),
			Issuer:  "oidc:https://id.example",
			Subject: "sub-7",
			Name:    "Ana",
		}, now)
		if err != nil {
			return err
		}
		user = row.ID
		for _, id := range []string{"ses_one", "ses_two"} {
			session := models.LoginSession{
				ID:        id,
				ClientID:  client,
				UserID:    user,
				UserAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0",
				CreatedAt: now,
				ExpiresAt: now.Add(time.Hour),
			}
			if err := tx.Insert(&session); err != nil {
				return err
			}
		}
		return tx.SaveLoginConsent(models.LoginConsent{
			UserID:    user,
			ClientID:  client,
			Scope:     "openid email",
			CreatedAt: now,
			UpdatedAt: now,
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return user, client
}

func TestUser_sessionsAndConsents(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, tenant := withTenant(t, db)
	user, client := signedInUser(t, s, db, tenant)
	page := "/users/" + user
	sessions, consents := "section[aria-labelledby=sessions]", "section[aria-labelledby=consents]"
	s.Get(page).
		Says(sessions, "web").
		Says(sessions, "Firefox on Linux").
		Says(sessions, "Sign out everywhere").
		Says(consents, "openid, email")
	s.Post(page+"/sessions/ses_one/end").Shows(200, "End a session for Ana").
		Says("dl", "web").
		Says("dl", "Firefox on Linux").
		Says("[data-undo]", "sign in again")
	for range 2 { // a form that is sent twice
		s.Post(page+"/sessions/ses_one/end", "confirm", "true").LeadsTo(page + "#sessions")
	}
	s.Post(page + "/sessions/ses_one/end").LeadsTo(page + "#sessions") // it has ended
	s.Get(page).
		Lacks("form[action='"+page+"/sessions/ses_one/end']").
		Says(sessions, "web")
	s.Post(page+"/sessions/end-all").Shows(200, "Sign out Ana everywhere").Says("dl", "1 session")
	s.Post(page+"/sessions/end-all", "confirm", "true").LeadsTo(page + "#sessions")
	s.Get(page).Says(sessions, "Not signed in anywhere")
	s.Post(page+"/consents/"+client+"/withdraw").Shows(200, "Withdraw the consent for web").
		Says("dl", "openid, email").
		Says("[data-undo]", "asked again")
	for range 2 {
		s.Post(page+"/consents/"+client+"/withdraw", "confirm", "true").LeadsTo(page + "#sessions")
	}
	s.Get(page).Lacks(consents)
	s.Post("/users/usr_none/sessions/end-all").Shows(404, "Page not found")
}
