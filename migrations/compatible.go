package migrations

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"log/slog"
	"path"
	"regexp"

	"github.com/pressly/goose/v3"
)

// oldestProgram is the newest step that a program must know to use the current schema. Raise it, to the step's own
// number, with a step that older code must not run on: where it would ignore a limit, a takedown or a permission, or
// fail. Steps that older code can ignore leave it, so that replicas can be replaced one by one. A new version of
// River's tables comes with a step of ours.
const oldestProgram = 1

// UnknownSchemaError is a schema that this program must not use.
type UnknownSchemaError struct{ text string }

func (e *UnknownSchemaError) Error() string { return e.text }

// Check returns an UnknownSchemaError if the database has a schema that this program must
// not use: a newer one, unless it is marked as compatible with this program, or one that was
// created by other steps with the same numbers.
func Check(ctx context.Context, db *sql.DB, dialect Dialect) error {
	provider, err := newProvider(db, dialect, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	steps := provider.ListSources()
	s, err := schemaOf(ctx, db, dialect)
	if err != nil {
		return fmt.Errorf("migrations: read the schema's version: %w", err)
	}
	known := newest(steps)
	if s.oldest > known {
		return &UnknownSchemaError{fmt.Sprintf("the database has schema %d, which requires a postern that knows "+
			"schema %d, but this one knows %d: use the newer postern here as well", s.applied, s.oldest, known)}
	}
	digest, err := digestOf(steps, dialect, s.applied)
	if err != nil {
		return err
	}
	// A digest is recorded once all steps are applied. This program doesn't have newer steps.
	other := s.applied <= known && s.version <= known && s.digest.String != "" && s.digest.String != digest
	if s.applied > 0 && (other || !s.digest.Valid || s.version < s.applied) {
		return &UnknownSchemaError{fmt.Sprintf("the database has schema %d of another, unreleased commit of postern, "+
			"which this one cannot use or upgrade: export what you need with that commit, then delete the database "+
			"or choose another", s.applied)}
	}
	return nil
}

// schema is the schema version recorded in the database; fields are 0 if not recorded.
type schema struct {
	recorded                 bool // there is a record of the steps that were applied
	applied, version, oldest int64
	digest                   sql.NullString // "" while steps are being applied
}

func schemaOf(ctx context.Context, db *sql.DB, dialect Dialect) (s schema, err error) {
	hasVersions := "SELECT to_regclass('goose_db_version') IS NOT NULL"
	hasDigest := `SELECT EXISTS (SELECT FROM pg_attribute
		WHERE attrelid = to_regclass('schema_compatibility') AND attname = 'digest')`
	if dialect == SQLite {
		hasVersions = "SELECT count(*) > 0 FROM pragma_table_info('goose_db_version')"
		hasDigest = "SELECT count(*) > 0 FROM pragma_table_info('schema_compatibility') WHERE name = 'digest'"
	}
	const (
		newestStep = "SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied"
		recorded   = "SELECT version, oldest, digest FROM schema_compatibility"
	)
	if err := db.QueryRowContext(ctx, hasVersions).Scan(&s.recorded); err != nil || !s.recorded {
		return s, err
	}
	if err := db.QueryRowContext(ctx, newestStep).Scan(&s.applied); err != nil {
		return s, err
	}
	var found bool
	if err := db.QueryRowContext(ctx, hasDigest).Scan(&found); err != nil || !found {
		return s, err
	}
	return s, db.QueryRowContext(ctx, recorded).Scan(&s.version, &s.oldest, &s.digest)
}

// digestOf returns the digest of all steps up to one. Comments and spaces do not count.
func digestOf(steps []*goose.Source, dialect Dialect, last int64) (string, error) {
	digest := sha256.New()
	for _, step := range steps {
		if step.Version > last {
			continue
		}
		text, err := files.ReadFile(path.Join(string(dialect), step.Path))
		if err != nil {
			return "", fmt.Errorf("migrations: read step %d: %w", step.Version, err)
		}
		digest.Write(insignificant.ReplaceAll(text, nil))
	}
	return hex.EncodeToString(digest.Sum(nil)), nil
}

var insignificant = regexp.MustCompile(`--.*|\s+`)

// Lag is the part of this program's schema that a database lacks.
type Lag int

// The things that a database can lack.
const (
	LacksNothing Lag = iota
	LacksSteps       // some steps of ours
	LacksAll         // the record of steps too: nothing was ever stored in it
)

// Behind returns what the database lacks. It changes nothing, so that a role that may not
// change the schema can ask.
func Behind(ctx context.Context, db *sql.DB, dialect Dialect) (Lag, error) {
	provider, err := newProvider(db, dialect, slog.New(slog.DiscardHandler))
	if err != nil {
		return 0, err
	}
	s, err := schemaOf(ctx, db, dialect)
	switch {
	case err != nil:
		return 0, fmt.Errorf("migrations: read the schema's version: %w", err)
	case !s.recorded:
		return LacksAll, nil
	case s.applied < newest(provider.ListSources()):
		return LacksSteps, nil
	}
	return LacksNothing, nil
}

// MayMigrate reports whether the role of the connection may change the schema: it owns its tables, or may create them
// if there are none.
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
func announce(ctx context.Context, db *sql.DB, known int64) error {
	const statement = "UPDATE schema_compatibility SET version = $1, digest = '' WHERE version < $1"
	if _, err := db.ExecContext(ctx, statement, known); err != nil {
		return fmt.Errorf("migrations: announce the schema: %w", err)
	}
	return nil
}

// recordCompatible records, after the steps, the oldest program that can use the schema.
func recordCompatible(ctx context.Context, db *sql.DB, known int64, digest string) error {
	const statement = `UPDATE schema_compatibility SET version = $1, oldest = $2, digest = $3
		WHERE version <= $1 AND (version, oldest, digest) <> ($1, $2, $3)`
	if _, err := db.ExecContext(ctx, statement, known, oldestProgram, digest); err != nil {
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
