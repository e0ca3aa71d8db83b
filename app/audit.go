package app

import (
	"context"
	"errors"
	"fmt"
	"os"

	"postern/audit"
	"postern/config"
	"postern/migrations"
)

// VerifyAudit verifies the audit logs in the configured database, which nothing is
// changed in; a server may be running on it.
func VerifyAudit(ctx context.Context, c config.Config) ([]audit.Verdict, error) {
	if c.DatabaseURL == "" {
		if _, err := os.Stat(c.SQLitePath()); err != nil {
			return nil, fmt.Errorf("cannot open the database (%w): name the server's data directory with --data-dir", err)
		}
	}
	db, err := openDatabase(ctx, c)
	if err != nil {
		return nil, err
	}
	verdicts, err := func() ([]audit.Verdict, error) {
		pending, err := migrations.Pending(ctx, db.SQL(), db.Dialect())
		if err != nil {
			return nil, explain(c, "cannot read the database", err)
		}
		if pending {
			return nil, errors.New("the database's schema is not up to date: run `postern migrate` on it first")
		}
		return audit.VerifyAll(ctx, db)
	}()
	return verdicts, errors.Join(err, db.Close())
}
