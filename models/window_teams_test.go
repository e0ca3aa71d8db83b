package models_test

import (
	"strings"
	"testing"

	"postern/migrations"
	"postern/models"
	"postern/testkit"
	"postern/testkit/state"
)

// TestLists_ofFewInMany reads lists of a project and of a team that have a few rows, while others have manyRows. No
// statement may read the rows of others: it would take the longer the larger the installation is.
func TestLists_ofFewInMany(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		ours := seed(t, db)
		theirs := models.Project{
			ID: models.NewID("prj"), TeamID: models.NewID("team"), Name: "theirs", CreatedAt: models.Now(),
		}
		fillTeams(t, db, ours, theirs)
		teams := []string{ours.TeamID}
		statements := watch(t, db)
		for name, tt := range testkit.ByName(map[string]struct {
			table string
			most  int // rows that may be read of it
			list  func(tx *models.Tx) (int, error)
		}{
			"app clients": {"app_clients", 2, func(tx *models.Tx) (int, error) {
				list, err := tx.AppClientsOfProject(ours.ID, models.Page{Count: true})
				return len(list.Items), err
			}},
			"app clients by name": {"app_clients", 2, func(tx *models.Tx) (int, error) {
				list, err := tx.AppClientsOfProject(ours.ID, models.Page{Sort: models.ParseSort("name")})
				return len(list.Items), err
			}},
			"tenants": {"tenants", 4, func(tx *models.Tx) (int, error) {
				list, err := tx.TenantsServed(ours.ID, models.Page{Count: true})
				return len(list.Items), err
			}},
			"tenants, newest": {"tenants", 4, func(tx *models.Tx) (int, error) {
				list, err := tx.TenantsServed(ours.ID, models.Page{Sort: models.ParseSort("-created")})
				return len(list.Items), err
			}},
			"all tenants": {"tenants", 4, func(tx *models.Tx) (int, error) {
				list, err := tx.TenantsOf(ours.ID)
				return len(list), err
			}},
			"users": {"end_users", 4, func(tx *models.Tx) (int, error) {
				list, err := tx.EndUsersServed(ours.ID, models.UserFilter{}, models.Page{Count: true})
				return len(list.Items), err
			}},
			// A search looks at the first 500 rows of all teams before.
			"users found": {"end_users", 510, func(tx *models.Tx) (int, error) {
				list, err := tx.FindUsers(teams, "u", 10)
				return len(list), err
			}},
			"keys found": {"api_keys", 510, func(tx *models.Tx) (int, error) {
				list, err := tx.FindKeysByOwner(teams, "o", 10)
				return len(list), err
			}},
		}) {
			t.Run(name, func(t *testing.T) {
				settings := onlyIndexes
				if tt.table == "tenants" { // whose list sorts the few that it reads
					settings = noScan
				}
				*statements = nil
				if n, err := tt.list(db.Read(t.Context())); err != nil || n != 2 {
					t.Errorf("the list has %d rows, %v; want 2", n, err)
				}
				for _, one := range *statements {
					if db.Dialect() == migrations.SQLite {
						one.scans(t, db, tt.table)
					} else if n := one.rowsRead(t, db, tt.table, settings); n > tt.most {
						t.Errorf("it reads %d rows of %s:\n%s", n, tt.table, one.sql)
					}
				}
			})
		}
	})
}

// fillTeams adds two rows of each kind to a project, for its own tenant and for one that it serves, and manyRows to
// another team, before and after them in every order.
func fillTeams(t *testing.T, db *models.DB, ours, theirs models.Project) {
	t.Helper()
	now := models.Now()
	team := models.Team{ID: theirs.TeamID, Name: "theirs", CreatedAt: now}
	theirTenant := models.Tenant{ID: models.NewID("tnt"), ProjectID: &theirs.ID, Name: "default", CreatedAt: now}
	theirType := models.KeyType{ID: models.NewID("kty"), ProjectID: theirs.ID, Name: "full", Scopes: []string{"*"}}
	kind := models.KeyType{ID: models.NewID("kty"), ProjectID: ours.ID, Name: "full", Scopes: []string{"*"}}
	own := models.Tenant{ID: "tnt_015000m", ProjectID: &ours.ID, Name: "m-own", CreatedAt: now}
	served := models.Tenant{ID: "tnt_015000n", TeamID: &ours.TeamID, Name: "m-served", CreatedAt: now}
	rows := []any{
		&team, &theirs, &theirTenant, &theirType, &kind, &own, &served,
		&models.ProjectTenant{ProjectID: ours.ID, TenantID: served.ID, CreatedAt: now},
	}
	for _, of := range []string{own.ID, served.ID} {
		number := of[len("tnt_"):]
		rows = append(rows,
			&models.AppClient{
				ID: "apc_" + number, TenantID: of, Name: "c015000", RedirectURIs: []string{}, LogoutURIs: []string{},
				CreatedAt: now, UpdatedAt: now,
			},
			&models.EndUser{
				ID: "usr_" + number, TenantID: of, Email: "u" + number, State: "active", CreatedAt: now, UpdatedAt: now,
			},
			&models.APIKey{
				ID: "key_" + number, TeamID: ours.TeamID, ProjectID: ours.ID, TenantID: of, KeyTypeID: kind.ID,
				Owner: "o" + number, State: "active", Hash: []byte("hash" + number),
			},
		)
	}
	if err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(rows...) }); err != nil {
		t.Fatal(err)
	}
	with, number := numbers(db)
	hash := "CAST('hash' || i AS BLOB)"
	if db.Dialect() == migrations.Postgres {
		hash = "convert_to('hash' || i, 'UTF8')"
	}
	const stamps = "CURRENT_TIMESTAMP, CURRENT_TIMESTAMP FROM n"
	insert := func(table, columns string, values ...string) string {
		return with + "INSERT INTO " + table + " (" + columns + ", created_at, updated_at) SELECT " +
			strings.Join(values, ", ") + ", " + stamps
	}
	numbered := func(prefix string) string { return "'" + prefix + "' || " + number }
	quoted := func(id string) string { return "'" + id + "'" }
	fill(t, db,
		insert("tenants", "id, team_id, name", numbered("tnt_"), quoted(team.ID), numbered("m")),
		insert("app_clients", "id, tenant_id, name, redirect_uris, logout_uris, access_token_seconds, "+
			"refresh_token_seconds, algorithm, title, welcome, logo_url, color",
			numbered("apc_"), quoted(theirTenant.ID), numbered("c"), "'[]', '[]', 60, 0, 'RS256', '', '', '', ''"),
		insert("end_users", "id, tenant_id, email, email_verified, name, state",
			numbered("usr_"), quoted(theirTenant.ID), numbered("u"), "TRUE, '', 'active'"),
		insert("api_keys", "id, team_id, project_id, tenant_id, key_type_id, owner, environment, description, state, "+
			"hash, prefix, last4", numbered("key_"), quoted(theirs.TeamID), quoted(theirs.ID), quoted(theirTenant.ID),
			quoted(theirType.ID),
			numbered("o"), "'', '', 'active'", hash, "'pst', 'abcd'"),
	)
}
