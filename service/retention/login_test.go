package retention_test

import (
	"testing"

	"postern/models"
	"postern/testkit/state"
)

// The rows of a workspace's tenants refer to each other. All of them are deleted, while another workspace's rows stay.
func TestPurge_logins(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		l := newHarness(t, db)
		gone, stays := l.make("gone"), l.make("stays")
		for _, m := range []made{gone, stays} {
			rows := loginRows(l.tenant(m))
			if err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(rows...) }); err != nil {
				t.Fatal(err)
			}
		}
		l.end(gone)
		if err := l.purge(); err != nil {
			t.Fatal(err)
		}
		for table, want := range map[string]string{
			"app_clients":     "1",
			"providers":       "1",
			"signing_keys":    "1",
			"login_attempts":  "1",
			"login_sessions":  "1",
			"login_grants":    "1",
			"login_consents":  "1",
			"end_users":       "1",
			"identities":      "1",
			"signup_policies": "1",
			"approvals":       "1",
			"user_groups":     "2",
			"group_members":   "1",
			"group_owners":    "1",
			"group_groups":    "1",
		} {
			if got := l.strings("SELECT CAST(count(*) AS TEXT) FROM " + table)[0]; got != want {
				t.Errorf("%s has %s rows, want %s", table, got, want)
			}
		}
	})
}

func loginRows(tenant string) []any {
	now := models.Now()
	client, user, session := models.NewID("cli"), models.NewID("usr"), models.NewID("ses")
	inner, outer := models.NewID("grp"), models.NewID("grp")
	return []any{
		&models.AppClient{
			ID:           client,
			TenantID:     tenant,
			Name:         "web",
			RedirectURIs: []string{},
			LogoutURIs:   []string{},
			CreatedAt:    now,
			UpdatedAt:    now,
		},
		&models.Provider{
			ID:                   models.NewID("idp"),
			AppClientID:          client,
			Scopes:               []string{},
			AuthoritativeDomains: []string{},
			SignInDomains:        []string{},
			CreatedAt:            now,
			UpdatedAt:            now,
		},
		&models.SigningKey{ID: models.NewID("sig"), ClientID: client, ActiveAt: now, CreatedAt: now},
		&models.LoginAttempt{
			ID:          models.NewID("lgn"),
			ClientID:    client,
			BrowserHash: []byte("x"),
			CreatedAt:   now,
			ExpiresAt:   now,
		},
		&models.EndUser{ID: user, TenantID: tenant, CreatedAt: now, UpdatedAt: now},
		&models.Identity{TenantID: tenant, Issuer: "i", Subject: "s", UserID: user, CreatedAt: now},
		&models.SignupPolicy{TenantID: tenant, UpdatedAt: now},
		&models.Approval{
			ID:        models.NewID("pre"),
			TenantID:  tenant,
			Kind:      "email",
			Value:     "x",
			Groups:    []string{},
			CreatedAt: now,
		},
		&models.UserGroup{ID: inner, TenantID: tenant, Name: "inner", CreatedAt: now, UpdatedAt: now},
		&models.UserGroup{ID: outer, TenantID: tenant, Name: "outer", CreatedAt: now, UpdatedAt: now},
		&models.GroupMember{GroupID: inner, UserID: user, Role: "member", CreatedAt: now},
		&models.GroupOwner{GroupID: inner, Owner: "billing", Role: "member", CreatedAt: now},
		&models.GroupGroup{ParentID: outer, ChildID: inner, CreatedAt: now},
		&models.LoginSession{ID: session, ClientID: client, UserID: user, CreatedAt: now, ExpiresAt: now},
		&models.LoginConsent{UserID: user, ClientID: client, CreatedAt: now, UpdatedAt: now},
		&models.LoginGrant{Hash: []byte(session), Kind: "code", SessionID: session, CreatedAt: now, ExpiresAt: now},
	}
}
