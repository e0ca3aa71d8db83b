package state_test

import (
	"slices"
	"testing"

	"postern/migrations"
	"postern/models"
	"postern/testkit/state"
)

func TestEach_migrated(t *testing.T) {
	// Twice, so that the second round works on copies of the first round's databases.
	for range 2 {
		state.Each(t, func(t *testing.T, db *models.DB) {
			lag, err := migrations.Behind(t.Context(), db.SQL(), db.Dialect())
			if err != nil {
				t.Fatal(err)
			}
			if lag != migrations.LacksNothing {
				t.Error("a migration is missing")
			}
			if _, err := db.SQL().ExecContext(t.Context(), "CREATE TABLE only_here (id integer)"); err != nil {
				t.Errorf("a database that another test used: %v", err)
			}
		})
	}
}

func TestEach_sqliteAndPostgres(t *testing.T) {
	var dialects []migrations.Dialect
	state.Each(t, func(_ *testing.T, db *models.DB) { dialects = append(dialects, db.Dialect()) })
	if want := []migrations.Dialect{migrations.SQLite, migrations.Postgres}; !slices.Equal(dialects, want) {
		t.Errorf("ran on %v, want %v", dialects, want)
	}
}
