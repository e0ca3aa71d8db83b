package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"postern/config"
	"postern/models"
)

// state is the open, migrated database and what has to be given back with it.
type state struct {
	db      *models.DB
	sole    bool // nobody else uses this state while we run
	release func() error
}

// openState opens the configured database. For SQLite the data directory is
// made and locked, so that two servers never write one file.
func openState(ctx context.Context, c config.Config, log *slog.Logger) (*state, error) {
	if err := os.MkdirAll(c.DataDir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot make the data directory %s (%w): choose another with --data-dir or POSTERN_DATA_DIR", c.DataDir, err)
	}
	s := &state{release: func() error { return nil }}
	if c.DatabaseURL == "" {
		var err error
		if s.release, s.sole, err = lock(c.DataDir); err != nil {
			return nil, err
		}
	}
	db, err := OpenDatabase(ctx, c)
	if err != nil {
		return nil, errors.Join(err, s.release())
	}
	s.db = db
	ours, rivers, err := db.Migrate(ctx, quiet(log))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cannot bring the database's schema up to date: %w", err), s.close())
	}
	if ours+rivers > 0 {
		log.Info("schema brought up to date", "steps", ours, "job_steps", rivers)
	}
	return s, nil
}

// OpenDatabase opens the configured database as it is, without migrating it.
func OpenDatabase(ctx context.Context, c config.Config) (*models.DB, error) {
	db, err := models.Open(ctx, c.DatabaseURL.Reveal(), c.SQLitePath())
	if err != nil && c.DatabaseURL != "" {
		return nil, fmt.Errorf("cannot open the database (%w): check --database-url or POSTERN_DATABASE_URL and that the server runs", err)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot open the database (%w): check that the data directory can be written, or choose another with --data-dir or POSTERN_DATA_DIR", err)
	}
	return db, nil
}

func (s *state) close() error { return errors.Join(s.db.Close(), s.release()) }
