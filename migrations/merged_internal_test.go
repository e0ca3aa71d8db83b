package migrations

import (
	"database/sql"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"postern/testkit"
)

// mergedIs is the migration that records what workspaces were merged into.
const mergedIs = 14

// Which workspaces were merged before is in the audit log, and nothing else is
// taken for it: claims into a team of their own, and refused ones.
func TestTheMigrationOfMergesFindsEarlierOnes(t *testing.T) {
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
		if _, err := provider.UpTo(t.Context(), mergedIs-1); err != nil {
			t.Fatal(err)
		}
		made := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		for _, team := range []string{"team_a", "merged", "own", "refused"} {
			execute(t, db, `INSERT INTO teams (id, name, claimed_at, created_at) VALUES ($1, 'T', $2, $2)`, team, made)
		}
		for _, e := range [][3]string{
			{"merged", "team_a", "done"},
			{"own", "own", "done"},
			{"refused", "team_a", "refused"},
		} {
			execute(t, db, `INSERT INTO audit_entries
					(id, actor, action, object, team_id, outcome, detail, remote_addr, request_id, created_at)
				VALUES ($1, 'acc_1', 'workspace.claim', $1, $2, $3, '{}', '', '', $4)`, e[0], e[1], e[2], made)
		}
		if _, err := provider.UpTo(t.Context(), mergedIs); err != nil {
			t.Fatal(err)
		}
		for team, want := range map[string]string{"team_a": "", "merged": "team_a", "own": "", "refused": ""} {
			var into sql.NullString
			err := db.QueryRowContext(t.Context(), `SELECT merged_into FROM teams WHERE id = $1`, team).Scan(&into)
			if err != nil || into.String != want {
				t.Errorf("%s was merged into %q, %v; want %q", team, into.String, err, want)
			}
		}
	})
}
