package models_test

import (
	"log/slog"
	"testing"

	"postern/models"
	"postern/platform/fault"
	"postern/testkit"
	"postern/testkit/state"
)

// A restore drops what is there, and brings back tables before their indexes.
func TestPostgres_restore(t *testing.T) {
	read := func(t *testing.T, db *models.DB) error {
		_, err := db.Read(t.Context()).LastRevision()
		return err
	}
	write := func(t *testing.T, db *models.DB) error {
		return db.Write(t.Context(), func(tx *models.Tx) error { return tx.WorkerAlive("wrk_1") })
	}
	for name, test := range testkit.ByName(map[string]struct {
		lack string // what is done to the schema; "" drops the database
		call func(*testing.T, *models.DB) error
	}{
		"no table":    {"ALTER TABLE revisions RENAME TO later", read},
		"no schema":   {"ALTER SCHEMA public RENAME TO later", write},
		"no index":    {"ALTER TABLE workers DROP CONSTRAINT workers_pkey", write},
		"no database": {"", read},
	}) {
		t.Run(name, func(t *testing.T) {
			database := state.Postgres(t)
			saved := testkit.SavePostgres(t, database)
			open := func() *models.DB {
				db, err := models.Open(t.Context(), database, "")
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = db.Close() })
				return db
			}
			running, starting := open(), open()
			if _, _, err := running.Migrate(t.Context(), slog.New(slog.DiscardHandler)); err != nil {
				t.Fatal(err)
			}
			if test.lack == "" {
				saved.Drop(t)
			} else if _, err := starting.SQL().ExecContext(t.Context(), test.lack); err != nil {
				t.Fatal(err)
			}
			_, _ = test.call(t, starting), test.call(t, running) // may find their connections cut
			if err := test.call(t, starting); err == nil || models.Unavailable(err) {
				t.Errorf("got %v from a database that was never complete, want an error that does not pass", err)
			}
			if err := test.call(t, running); !models.Unavailable(err) || fault.KindOf(err) != fault.Unavailable {
				t.Errorf("got %v, want an error that says to try again", err)
			}
			saved.Restore(t)
			testkit.Await(t, "the restored database", func() (error, bool) {
				err := test.call(t, running)
				return err, err == nil
			})
		})
	}
}
