package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"reflect"

	"postern/models"
	"postern/platform/config"
	"postern/service/audit"
	"postern/service/exports"
)

// Copied has the tables and rows that Copy has copied and compared.
type Copied struct {
	models.Copied
	Exports, AuditLogs int
}

// Copy copies everything from the SQLite database of one configuration to the empty
// PostgreSQL database of another. No server may run on the source, which is not changed. In
// the end every row, the export of every project and the head of every audit log are equal
// in both; after any error, the target is empty.
func Copy(ctx context.Context, from, to config.Config, note func(step string)) (done Copied, err error) {
	if _, err := os.Stat(from.SQLitePath()); err != nil {
		return done, fmt.Errorf("cannot open the database (%w): set the server's data directory with --data-dir", err)
	}
	release, _, err := lock(from.DataDir)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, release()) }()
	err = onDatabase(ctx, from, func(source *models.DB) error {
		target, err := models.OpenWith(ctx, databaseOptions(to))
		if err != nil {
			return fmt.Errorf("cannot open the target database (%w): check --to or POSTERN_COPY_TO, and that the "+
				"database server is running", oneLineError{err})
		}
		if err = prepareTarget(ctx, to, target, note); err == nil {
			done, err = copyAll(ctx, source, target, note)
		}
		return errors.Join(err, target.Close())
	})
	return done, err
}

// prepareTarget creates the schema of an empty database.
func prepareTarget(ctx context.Context, c config.Config, target *models.DB, note func(string)) error {
	empty := func() error {
		err := target.CheckEmpty(ctx)
		if filled, ok := errors.AsType[*models.NotEmptyError](err); ok {
			return fmt.Errorf("%w: create a new database and use it with --to", filled)
		}
		if err != nil {
			return fmt.Errorf("cannot read the target database: %w", oneLineError{err})
		}
		return nil
	}
	if err := empty(); err != nil {
		return err
	}
	note("the schema")
	if _, _, err := migrate(ctx, c, target, slog.New(slog.DiscardHandler)); err != nil {
		return fmt.Errorf("the target database: %w", err)
	}
	return empty()
}

func copyAll(ctx context.Context, source, target *models.DB, note func(string)) (done Copied, err error) {
	compare := func(from, to *models.Tx) (err error) {
		if done.AuditLogs, err = compareAuditLogs(from, to, note); err != nil {
			return err
		}
		done.Exports, err = compareExports(ctx, from, to, note)
		return err
	}
	rows, err := source.CopyTo(ctx, target, func(table string) { note("table " + table) }, compare)
	if filled, ok := errors.AsType[*models.NotEmptyError](err); ok {
		return done, filled
	}
	if err != nil {
		return done, fmt.Errorf("nothing was copied (%w)", oneLineError{err})
	}
	done.Copied = rows
	return done, nil
}

func compareAuditLogs(from, to *models.Tx, note func(string)) (int, error) {
	note("audit logs")
	before, err := audit.VerifyChains(from)
	if err != nil {
		return 0, err
	}
	after, err := audit.VerifyChains(to)
	if err != nil {
		return 0, err
	}
	if !reflect.DeepEqual(before, after) {
		return 0, errors.New("the audit logs in PostgreSQL and SQLite don't have the same heads")
	}
	return len(after), nil
}

// compareExports compares the zips that projects would be exported as.
func compareExports(ctx context.Context, from, to *models.Tx, note func(string)) (int, error) {
	ids, err := from.AllProjectIDs()
	if err != nil {
		return 0, err
	}
	zips := &exports.Service{
		AddressOf: func(project, version, environment string) string {
			return "https://gateway.invalid/" + project + "/" + version + "/" + environment
		},
		PublicURL: "https://control.invalid",
		Generator: "postern copy",
	}
	for i, id := range ids {
		note(fmt.Sprintf("export %d of %d", i+1, len(ids)))
		before, err := zips.Digest(ctx, from, id)
		if err != nil {
			return 0, fmt.Errorf("export %s from SQLite: %w", id, err)
		}
		after, err := zips.Digest(ctx, to, id)
		if err != nil {
			return 0, fmt.Errorf("export %s from PostgreSQL: %w", id, err)
		}
		if before != after {
			return 0, fmt.Errorf("the exports of %s from PostgreSQL and SQLite differ", id)
		}
	}
	return len(ids), nil
}
