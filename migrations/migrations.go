// Package migrations brings a database to the schema this binary works with.
//
// It owns the SQL of our tables, one numbered file per step and database, and
// the order in which ours and River's are applied. It does not own the rows
// (models) or the jobs (jobs). Every step runs with the code before and after
// it, so that replicas can be replaced one by one.
package migrations

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"log/slog"

	"github.com/pressly/goose/v3"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
)

//go:embed sqlite/*.sql postgres/*.sql
var files embed.FS

// Dialect names a database the schema exists for.
type Dialect string

// The dialects; each is also the name of the folder of its SQL.
const (
	SQLite   Dialect = "sqlite"
	Postgres Dialect = "postgres"
)

// Up applies every missing step of ours and of River's and tells how many of
// each there were. Replicas that start together wait for each other on
// PostgreSQL; a SQLite file has one owner.
func Up(ctx context.Context, db *sql.DB, dialect Dialect, log *slog.Logger) (ours, rivers int, err error) {
	provider, err := newProvider(db, dialect)
	if err != nil {
		return 0, 0, err
	}
	results, err := provider.Up(ctx)
	if err != nil {
		return 0, 0, fmt.Errorf("migrations: apply: %w", err)
	}
	rivers, err = riverUp(ctx, db, dialect, log)
	return len(results), rivers, err
}

// Pending tells whether the database lacks a step of ours.
func Pending(ctx context.Context, db *sql.DB, dialect Dialect) (bool, error) {
	provider, err := newProvider(db, dialect)
	if err != nil {
		return false, err
	}
	return provider.HasPending(ctx)
}

func newProvider(db *sql.DB, dialect Dialect) (*goose.Provider, error) {
	sub, err := fs.Sub(files, string(dialect))
	if err != nil {
		return nil, fmt.Errorf("migrations: %s: %w", dialect, err)
	}
	if dialect == SQLite {
		return goose.NewProvider(goose.DialectSQLite3, db, sub)
	}
	locker, err := sessionLock()
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectPostgres, db, sub, goose.WithSessionLocker(locker))
}

func riverUp(ctx context.Context, db *sql.DB, dialect Dialect, log *slog.Logger) (int, error) {
	var (
		result *rivermigrate.MigrateResult
		err    error
	)
	if dialect == SQLite {
		result, err = migrateRiver[*sql.Tx](ctx, riversqlite.New(db), log)
	} else {
		result, err = migrateRiver[*sql.Tx](ctx, riverdatabasesql.New(db), log)
	}
	if err != nil {
		return 0, fmt.Errorf("migrations: River's tables: %w", err)
	}
	return len(result.Versions), nil
}

func migrateRiver[T any](ctx context.Context, driver riverdriver.Driver[T], log *slog.Logger) (*rivermigrate.MigrateResult, error) {
	migrator, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: log})
	if err != nil {
		return nil, err
	}
	return migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
}
