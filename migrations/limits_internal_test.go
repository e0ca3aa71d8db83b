package migrations

import (
	"context"
	"database/sql"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	_ "github.com/glebarez/go-sqlite"
	_ "github.com/jackc/pgx/v5/stdlib"

	"postern/testkit"
)

// limitsAre is the migration that takes the table of tenants apart on SQLite.
const limitsAre = 3

// What there was before stays, and rows still have to refer to what exists.
func TestTheMigrationOfLimitsKeepsWhatThereWas(t *testing.T) {
	testkit.EachDatabase(t, func(t *testing.T, databaseURL string) {
		dialect, driver, source := Postgres, "pgx", databaseURL
		if databaseURL == "" {
			dialect, driver, source = SQLite, "sqlite", "file:"+filepath.Join(
				t.TempDir(), "postern.db",
			)+"?_pragma=foreign_keys(1)"
		}
		db, err := sql.Open(driver, source)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		provider, err := newProvider(db, dialect, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := provider.UpTo(t.Context(), limitsAre-1); err != nil {
			t.Fatal(err)
		}
		made := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		for _, statement := range []string{
			`INSERT INTO teams (id, name, created_at) VALUES ('team_1', 'T', $1)`,
			`INSERT INTO projects (id, team_id, name, display_name, fallback_owner, created_at, updated_at)
				VALUES ('prj_1', 'team_1', 'shop', 'Shop', 'shop', $1, $1)`,
			`INSERT INTO tenants (id, project_id, name, created_at) VALUES ('tnt_1', 'prj_1', 'default', $1)`,
		} {
			execute(t, db, statement, made)
		}
		execute(t, db, `INSERT INTO key_types (id, project_id, name, scopes, expires_in, built_in)
			VALUES ('kty_1', 'prj_1', 'full', '["*"]', 0, true)`)
		const key = `INSERT INTO api_keys (id, project_id, tenant_id, key_type_id, owner, environment,
				description, state, hash, prefix, last4, created_at, updated_at)
			VALUES ($1, 'prj_1', $2, 'kty_1', 'billing', '', 'Invoices', 'active', $3, 'pst_', 'abcd', $4, $4)`
		execute(t, db, key, "key_1", "tnt_1", []byte("hash"), made)

		if _, err := provider.UpTo(t.Context(), limitsAre); err != nil {
			t.Fatal(err)
		}
		var project, name, description, limits, ranges string
		var created, updated time.Time
		var own sql.NullString
		err = db.QueryRowContext(
			t.Context(),
			`SELECT t.project_id, t.name, t.created_at, t.updated_at, k.description, k.allowed_cidrs, k.limits, p.limits
			FROM api_keys k JOIN tenants t ON t.id = k.tenant_id JOIN projects p ON p.id = k.project_id
			WHERE k.id = 'key_1'`,
		).Scan(&project, &name, &created, &updated, &description, &ranges, &own, &limits)
		if err != nil {
			t.Fatal(err)
		}
		if project != "prj_1" || name != "default" {
			t.Errorf("the key's tenant is %s of project %s, want default of prj_1", name, project)
		}
		if !created.Equal(made) || updated.IsZero() {
			t.Errorf("the tenant was created %s and updated %s, want %s and a time", created, updated, made)
		}
		if description != "Invoices" || ranges != "[]" {
			t.Errorf("the key has description %q and addresses %s, want Invoices and []", description, ranges)
		}
		if own.Valid || limits != "{}" {
			t.Errorf("limits of the key %v and of the project %s, want none and {}", own, limits)
		}
		if _, err := db.ExecContext(t.Context(), key, "key_2", "tnt_none", []byte("other"), made); err == nil {
			t.Error("a key of a tenant that does not exist is taken")
		}
		if _, err := db.ExecContext(t.Context(), `DELETE FROM tenants WHERE id = 'tnt_1'`); err == nil {
			t.Error("a tenant with a key is deleted")
		}
		execute(t, db, key, "key_3", "tnt_1", []byte("third"), made)
	})
}

func execute(t *testing.T, db *sql.DB, statement string, values ...any) {
	t.Helper()
	if _, err := db.ExecContext(context.WithoutCancel(t.Context()), statement, values...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}
