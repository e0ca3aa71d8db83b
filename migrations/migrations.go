// Package migrations brings a database to the schema this binary works with.
//
// It owns the SQL of our tables, one numbered file per step and database, and
// the order in which ours and River's are applied. It does not own the rows
// (models) or the jobs (jobs). Until the first release there is one step, which
// is edited. Later steps run with the code before and after them, so that
// replicas can be replaced one by one.
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

// Up applies every missing step of ours and of River's and returns how many of
// each there were. Replicas that start together wait for each other on
// PostgreSQL; a SQLite file has one owner. A schema that this program must not use
// is an UnknownSchemaError; on a newer one that it can use there is nothing to do.
func Up(ctx context.Context, db *sql.DB, dialect Dialect, log *slog.Logger) (ours, rivers int, err error) {
	if err := Check(ctx, db, dialect); err != nil {
		return 0, 0, err
	}
	provider, err := newProvider(db, dialect, log)
	if err != nil {
		return 0, 0, err
	}
	steps := provider.ListSources()
	known := newest(steps)
	before, err := schemaOf(ctx, db, dialect)
	if err != nil || before.applied > known {
		return 0, 0, err
	}
	if before.applied > 0 {
		if err := announce(ctx, db, known); err != nil {
			return 0, 0, err
		}
	}
	results, err := provider.Up(ctx)
	if err != nil {
		return 0, 0, fmt.Errorf("migrations: apply: %w", err)
	}
	if rivers, err = riverUp(ctx, db, dialect, log); err != nil {
		return len(results), rivers, err
	}
	digest, err := digestOf(steps, dialect, known)
	if err == nil {
		err = recordCompatible(ctx, db, known, digest)
	}
	if err != nil {
		return len(results), rivers, err
	}
	// A newer program may have migrated while this one waited for its turn.
	return len(results), rivers, Check(ctx, db, dialect)
}

func newest(steps []*goose.Source) int64 {
	var version int64
	for _, step := range steps {
		version = max(version, step.Version)
	}
	return version
}

func newProvider(db *sql.DB, dialect Dialect, log *slog.Logger) (*goose.Provider, error) {
	sub, err := fs.Sub(files, string(dialect))
	if err != nil {
		return nil, fmt.Errorf("migrations: %s: %w", dialect, err)
	}
	if dialect == SQLite {
		return goose.NewProvider(goose.DialectSQLite3, db, sub)
	}
	locker, err := sessionLock(log)
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

func migrateRiver[T any](
	ctx context.Context, driver riverdriver.Driver[T], log *slog.Logger,
) (*rivermigrate.MigrateResult, error) {
	migrator, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: log})
	if err != nil {
		return nil, err
	}
	return migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
}
