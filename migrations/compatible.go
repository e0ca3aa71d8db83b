package migrations

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
)

// oldestProgram is the newest step that a program must know at least to use the
// schema as it is now. Raise it, to the step's own number, with a step that older
// code must not run on: where it would ignore a limit, a takedown or a permission,
// or fail. Steps that older code can ignore leave it, so that replicas can be
// replaced one by one. A new version of River's tables comes with a step of ours.
const oldestProgram = 1

// UnknownSchemaError is a schema that this program must not use.
type UnknownSchemaError struct {
	Schema int64 // newest step that was applied to the database
	Known  int64 // newest step that this program has
	Needs  int64 // newest step that a program must know; 0 where the database does not say
}

func (e *UnknownSchemaError) Error() string {
	if e.Needs == 0 {
		return fmt.Sprintf("the database has schema %d, which this postern does not know (it has %d): "+
			"use the postern that brought it there, or restore a backup from before", e.Schema, e.Known)
	}
	return fmt.Sprintf("the database has schema %d, which needs a postern that knows schema %d, "+
		"and this one knows %d: use the newer postern here as well", e.Schema, e.Needs, e.Known)
}

// Check returns an UnknownSchemaError if the database has a schema that this program must
// not use: a newer one, unless it is marked as compatible with this program.
func Check(ctx context.Context, db *sql.DB, dialect Dialect) error {
	provider, err := newProvider(db, dialect, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	known := newest(provider.ListSources())
	schema, err := schemaOf(ctx, db, dialect)
	if err != nil {
		return fmt.Errorf("migrations: read the schema's version: %w", err)
	}
	switch {
	case schema.oldest > known:
		return &UnknownSchemaError{Schema: schema.applied, Known: known, Needs: schema.oldest}
	case schema.applied > known && schema.version < schema.applied:
		return &UnknownSchemaError{Schema: schema.applied, Known: known}
	}
	return nil
}

// schema is the schema version recorded in the database; fields are 0 if not recorded.
type schema struct{ applied, version, oldest int64 }

func schemaOf(ctx context.Context, db *sql.DB, dialect Dialect) (s schema, err error) {
	if there, err := hasTable(ctx, db, dialect, "goose_db_version"); err != nil || !there {
		return s, err
	}
	const newestStep = "SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied"
	if err := db.QueryRowContext(ctx, newestStep).Scan(&s.applied); err != nil {
		return s, err
	}
	if there, err := hasTable(ctx, db, dialect, "schema_compatibility"); err != nil || !there {
		return s, err
	}
	return s, db.QueryRowContext(ctx, "SELECT version, oldest FROM schema_compatibility").Scan(&s.version, &s.oldest)
}

func hasTable(ctx context.Context, db *sql.DB, dialect Dialect, name string) (there bool, err error) {
	query := "SELECT to_regclass($1) IS NOT NULL"
	if dialect == SQLite {
		query = "SELECT count(*) > 0 FROM sqlite_master WHERE type = 'table' AND name = $1"
	}
	return there, db.QueryRowContext(ctx, query, name).Scan(&there)
}

// Behind reports whether the database lacks a step of ours. It changes nothing, so that a
// role that may not change the schema can ask.
func Behind(ctx context.Context, db *sql.DB, dialect Dialect) (bool, error) {
	provider, err := newProvider(db, dialect, slog.New(slog.DiscardHandler))
	if err != nil {
		return false, err
	}
	s, err := schemaOf(ctx, db, dialect)
	if err != nil {
		return false, fmt.Errorf("migrations: read the schema's version: %w", err)
	}
	return s.applied < newest(provider.ListSources()), nil
}

// MayMigrate reports whether the role of the connection may change the schema: it owns its
// tables, or may create them where there are none.
func MayMigrate(ctx context.Context, db *sql.DB, dialect Dialect) (may bool, err error) {
	if dialect == SQLite {
		return true, nil
	}
	const query = `SELECT coalesce(
		(SELECT pg_has_role(current_user, relowner, 'USAGE') FROM pg_class WHERE oid = to_regclass('goose_db_version')),
		has_schema_privilege(current_user, current_schema(), 'CREATE'), false)`
	if err := db.QueryRowContext(ctx, query).Scan(&may); err != nil {
		return false, fmt.Errorf("migrations: may this role change the schema: %w", err)
	}
	return may, nil
}

// announce records the schema version before its steps run. Older replicas continue
// until recordCompatible excludes them.
func announce(ctx context.Context, db *sql.DB, dialect Dialect, known int64) error {
	there, err := hasTable(ctx, db, dialect, "schema_compatibility")
	if err == nil && there {
		_, err = db.ExecContext(ctx, "UPDATE schema_compatibility SET version = $1 WHERE version < $1", known)
	}
	if err != nil {
		return fmt.Errorf("migrations: announce the schema: %w", err)
	}
	return nil
}

// recordCompatible records, after the steps, the oldest program that can use the schema.
func recordCompatible(ctx context.Context, db *sql.DB, known int64) error {
	const statement = `UPDATE schema_compatibility SET version = $1, oldest = $2
		WHERE version <= $1 AND (version, oldest) <> ($1, $2)`
	if _, err := db.ExecContext(ctx, statement, known, oldestProgram); err != nil {
		return fmt.Errorf("migrations: say which programs can use the schema: %w", err)
	}
	return nil
}

// Applied returns the newest step that was applied to the database, 0 for none.
func Applied(ctx context.Context, db *sql.DB, dialect Dialect) (int64, error) {
	s, err := schemaOf(ctx, db, dialect)
	if err != nil {
		return 0, fmt.Errorf("migrations: read the schema's version: %w", err)
	}
	return s.applied, nil
}
