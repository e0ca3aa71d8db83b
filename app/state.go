package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"

	"postern/migrations"
	"postern/models"
	"postern/platform/config"
)

// state is the database and the lock on its data directory.
type state struct {
	db      *models.DB
	sole    bool // no other process uses this state
	release func() error
}

// openState prepares the configured database, which App.attach connects to. It locks the
// directory of a SQLite file, so that two servers never write to one file.
func openState(ctx context.Context, c config.Config) (*state, error) {
	if err := makeDataDir(c); err != nil {
		return nil, err
	}
	s := &state{release: func() error { return nil }}
	if err := refuseLost(c); err != nil {
		return nil, err
	}
	if c.DatabaseURL == "" {
		var err error
		if s.release, s.sole, err = lock(c.DataDir); err != nil {
			return nil, err
		}
	}
	var err error
	if s.db, err = models.Prepare(ctx, databaseOptions(c)); err != nil {
		return nil, errors.Join(explain(c, "cannot open the database", err), s.release())
	}
	if err := refuseTableless(ctx, c, s.db); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// Migrate migrates the configured database without starting a server. It returns the number
// of migrations, Postern's own and those of the job queue.
func Migrate(ctx context.Context, c config.Config, log *slog.Logger) (ours, rivers int, err error) {
	if err := makeDataDir(c); err != nil {
		return 0, 0, err
	}
	db, err := openDatabase(ctx, c)
	if err != nil {
		return 0, 0, err
	}
	may, err := db.MayMigrate(ctx)
	switch {
	case err != nil:
		err = explain(c, "cannot read the database's schema", err)
	case !may:
		err = errors.New("cannot change the database's schema: the role in --database-url doesn't own the tables and " +
			"can't create them: run `postern migrate` as their owner, or `GRANT CREATE ON SCHEMA public` to this " +
			"role if the database is empty")
	default:
		ours, rivers, err = migrate(ctx, c, db, log)
	}
	return ours, rivers, errors.Join(err, db.Close())
}

func makeDataDir(c config.Config) error {
	if err := os.MkdirAll(c.DataDir, 0o700); err != nil {
		return fmt.Errorf("cannot create the data directory %s (%w): choose another directory with --data-dir or "+
			"POSTERN_DATA_DIR", c.DataDir, err)
	}
	return nil
}

// refuseLost refuses a secrets key whose SQLite file is missing or empty: a start would treat it as a new
// installation, and the next backup would replace what is left of the old one.
func refuseLost(c config.Config) error {
	if c.DatabaseURL != "" || !hasKeyFile(c) {
		return nil
	}
	file, err := os.Stat(c.SQLitePath())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return lostDatabaseError(c, "doesn't exist", "")
	case err == nil && file.Size() == 0:
		return lostDatabaseError(c, "is empty", "delete it and ")
	}
	return nil // opening it says what else is wrong
}

// refuseTableless is refuseLost for a SQLite file that was opened.
func refuseTableless(ctx context.Context, c config.Config, db *models.DB) error {
	if c.DatabaseURL != "" || !hasKeyFile(c) {
		return nil
	}
	lag, err := migrations.Behind(ctx, db.SQL(), db.Dialect())
	if err != nil || lag != migrations.LacksAll {
		return nil //nolint:nilerr // reading its schema reports the mistake
	}
	return lostDatabaseError(c, "doesn't have Postern's tables", "move it away and ")
}

func hasKeyFile(c config.Config) bool {
	_, err := os.Stat(c.SecretsKeyFile())
	return err == nil
}

func lostDatabaseError(c config.Config, is, first string) error {
	return fmt.Errorf("%s %s, and %s belongs to a database that was in use: %srestore a backup with `postern "+
		"restore`, or set --database-url or POSTERN_DATABASE_URL to the PostgreSQL database that the server uses; to "+
		"start over, move the key away", c.SQLitePath(), is, c.SecretsKeyFile(), first)
}

func openDatabase(ctx context.Context, c config.Config) (*models.DB, error) {
	if err := refuseLost(c); err != nil {
		return nil, err
	}
	db, err := models.OpenWith(ctx, databaseOptions(c))
	if err != nil {
		return nil, explain(c, "cannot open the database", err)
	}
	if err := refuseTableless(ctx, c, db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func databaseOptions(c config.Config) models.Options {
	return models.Options{
		DatabaseURL: c.DatabaseURL.Reveal(),
		SQLitePath:  c.SQLitePath(),
		MaxConns:    c.Database.MaxConns,
		Deadlines: models.Deadlines{
			Queue:     c.Database.QueueTimeout,
			Connect:   c.Database.ConnectTimeout,
			Statement: c.Database.StatementTimeout,
			Lock:      c.Database.LockTimeout,
			Idle:      c.Database.IdleTimeout,
			Feed:      c.Database.FeedTimeout,
			Bulk:      c.Database.BulkTimeout,
			Network:   c.Database.NetworkTimeout,
		},
	}
}

func migrate(ctx context.Context, c config.Config, db *models.DB, log *slog.Logger) (ours, rivers int, err error) {
	ours, rivers, err = db.Migrate(ctx, quiet(log))
	if err != nil {
		err = explain(c, "cannot update the database's schema", err)
	}
	return ours, rivers, err
}

// explain returns an error of one line: what failed, why, and what to do about it.
func explain(c config.Config, what string, cause error) error {
	if cause == nil {
		return nil
	}
	fix := "check that the data directory is writable and has space, or choose another directory with --data-dir or " +
		"POSTERN_DATA_DIR"
	unknown, newer := errors.AsType[*migrations.UnknownSchemaError](cause)
	switch {
	case newer:
		return unknown
	case errors.Is(cause, models.ErrEmpty):
		fix = "run `postern migrate` as a role that can create tables; `GRANT CREATE ON SCHEMA public` allows this"
	case errors.Is(cause, models.ErrBehind):
		fix = "run `postern migrate` as the owner of its tables, or start a process with the control or worker role " +
			"that can change them"
	case models.Forbidden(cause):
		fix = "grant the role in --database-url its privileges from deploy/postgresql/roles.sql; run that file again " +
			"after each `postern migrate`"
	case errors.Is(cause, models.ErrTransactionPooling), errors.Is(cause, models.ErrPoolTooSmall):
		return fmt.Errorf("%s: %w", what, cause)
	case c.DatabaseURL != "":
		fix = "check --database-url or POSTERN_DATABASE_URL, and that the database server is running"
	case models.Damaged(cause):
		fix = "the file is damaged or isn't a database: restore a backup, or choose another data directory with " +
			"--data-dir or POSTERN_DATA_DIR"
	}
	return fmt.Errorf("%s (%w): %s", what, oneLineError{cause}, fix)
}

// explainLoad returns the error of loading the projects to serve.
func explainLoad(c config.Config, err error) error {
	if models.Forbidden(err) {
		return explain(c, "cannot load the projects to serve", err)
	}
	return fmt.Errorf("cannot load the projects to serve: %w", err)
}

// oneLineError prints an error of several lines as one, each different line once.
// PostgreSQL's driver has a line for every address that it tried, with and without TLS.
type oneLineError struct{ error }

func (e oneLineError) Unwrap() error { return e.error }

func (e oneLineError) Error() string {
	var parts []string
	for line := range strings.Lines(e.error.Error()) {
		if line = strings.TrimSpace(line); line != "" && !slices.Contains(parts, line) {
			parts = append(parts, line)
		}
	}
	return strings.Join(parts, " ")
}

func (s *state) close() error { return errors.Join(s.db.Close(), s.release()) }
