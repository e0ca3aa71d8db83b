package app_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/pressly/goose/v3/lock"

	"postern/app"
	"postern/core/contract"
	"postern/migrations"
	"postern/models"
	"postern/platform/config"
	"postern/testkit"
)

const unknownStep = `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, true)`

// A program that does not know what a newer one put into the database would ignore
// it, limits and takedowns included.
func TestUnknownSchema(t *testing.T) {
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	testkit.EachDatabase(t, func(t *testing.T, databaseURL string) {
		c := settings(t.TempDir(), databaseURL)
		if err := newApp(t, c).Close(); err != nil {
			t.Fatal(err)
		}
		execute(t, c, unknownStep)
		commands := map[string]func() error{
			"serve":         func() error { _, err := app.New(t.Context(), c, "test", quiet); return err },
			"migrate":       func() error { _, _, err := app.Migrate(t.Context(), c, quiet); return err },
			"operators":     func() error { _, err := app.Operators(t.Context(), c); return err },
			"set operators": func() error { return app.SetOperator(t.Context(), c, "ana@example.com", true) },
			"audit verify": func() error {
				_, err := app.VerifyAudit(t.Context(), c, contract.AuditVerification{})
				return err
			},
		}
		for name, run := range testkit.ByName(commands) {
			t.Run(name+" refuses a step that no program has announced", func(t *testing.T) {
				wantUnknown(t, run(), "schema 9999 of another, unreleased commit")
			})
		}
		execute(t, c, `DELETE FROM goose_db_version WHERE version_id = 9999`)
		execute(t, c, `UPDATE schema_compatibility SET digest = 'other'`)
		for name, run := range testkit.ByName(commands) {
			t.Run(name+" refuses a schema of other steps", func(t *testing.T) {
				wantUnknown(t, run(), "schema 1 of another, unreleased commit")
			})
		}
		execute(t, c, unknownStep)
		execute(t, c, `UPDATE schema_compatibility SET version = 9999, oldest = 9000`)
		for name, run := range testkit.ByName(commands) {
			t.Run(name+" refuses a schema for newer programs", func(t *testing.T) { wantUnknown(t, run(), "9000") })
		}
		execute(t, c, `UPDATE schema_compatibility SET oldest = 1`)
		t.Run("a newer schema that older programs can use is served", func(t *testing.T) {
			if err := newApp(t, c).Close(); err != nil {
				t.Error(err)
			}
			if _, err := app.Operators(t.Context(), c); err != nil {
				t.Error(err)
			}
		})
		execute(t, c, `ALTER TABLE schema_compatibility DROP COLUMN digest`)
		for name, run := range testkit.ByName(commands) {
			t.Run(name+" refuses a schema without a digest", func(t *testing.T) {
				wantUnknown(t, run(), "schema 9999 of another, unreleased commit")
			})
		}
	})
}

func TestRun_newerSchema(t *testing.T) {
	testkit.EachDatabase(t, func(t *testing.T, databaseURL string) {
		c := settings(t.TempDir(), databaseURL)
		a := newApp(t, c)
		ctx, stop := context.WithTimeout(context.Background(), time.Minute)
		defer stop()
		ended := make(chan error, 1)
		go func() { ended <- a.Run(ctx) }()
		execute(t, c, `UPDATE schema_compatibility SET version = 9999, oldest = 9000`)
		wantUnknown(t, <-ended, "9000")
	})
}

func wantUnknown(t *testing.T, err error, text string) {
	t.Helper()
	unknown, ok := errors.AsType[*migrations.UnknownSchemaError](err)
	if !ok {
		t.Fatalf("got %v, want an unknown schema", err)
	}
	// A command prints err's own text.
	if line := err.Error(); line != unknown.Error() || strings.Contains(line, "\n") || !strings.Contains(line, text) {
		t.Errorf("got %v, want one line about an unknown schema with %s", err, text)
	}
}

func execute(t *testing.T, c config.Config, statement string) {
	t.Helper()
	db, err := models.Open(t.Context(), c.DatabaseURL.Reveal(), c.SQLitePath())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.SQL().ExecContext(t.Context(), statement); err != nil {
		t.Errorf("%s: %v", statement, err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// The lock is that of goose's steps.
func TestNew_runningMigrationOnPostgres(t *testing.T) {
	c := settings(t.TempDir(), testkit.Postgres(t))
	other, err := models.Open(t.Context(), c.DatabaseURL.Reveal(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	holder, err := other.SQL().Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	if _, err := holder.ExecContext(t.Context(), "SELECT pg_advisory_lock($1)", lock.DefaultLockID); err != nil {
		t.Fatal(err)
	}

	said := make(chan struct{})
	log := slog.New(lines(func(text string) {
		if strings.Contains(text, "waiting for another process") {
			close(said)
		}
	}))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := app.New(ctx, c, "test", log)
		ended <- err
	}()
	select {
	case <-said:
	case <-time.After(time.Minute):
		t.Error("it does not say what it waits for")
	}
	stop()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want the end of the context", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it goes on waiting")
	}
}

// lines is a handler that hands on the message of every record.
type lines func(message string)

func (l lines) Enabled(context.Context, slog.Level) bool           { return true }
func (l lines) Handle(_ context.Context, record slog.Record) error { l(record.Message); return nil }
func (l lines) WithAttrs([]slog.Attr) slog.Handler                 { return l }
func (l lines) WithGroup(string) slog.Handler                      { return l }
