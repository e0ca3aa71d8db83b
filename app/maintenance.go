package app

import (
	"context"
	"errors"
	"fmt"
	"os"

	"postern/core/contract"
	"postern/migrations"
	"postern/models"
	"postern/platform/config"
	"postern/platform/fault"
	"postern/service/accounts"
	"postern/service/audit"
)

// VerifyAudit verifies the audit logs in the configured database: see audit.VerifyAll. It changes nothing, and a
// server may be running on the database.
func VerifyAudit(
	ctx context.Context, c config.Config, in contract.AuditVerification,
) (verdicts []contract.AuditVerdict, err error) {
	err = onDatabase(ctx, c, func(db *models.DB) error {
		verdicts, err = audit.VerifyAll(ctx, db, in)
		return err
	})
	return verdicts, err
}

// Operators returns the email addresses of the installation's operators.
func Operators(ctx context.Context, c config.Config) (emails []string, err error) {
	err = onDatabase(ctx, c, func(db *models.DB) error {
		emails, err = (&accounts.Service{DB: db}).Operators(ctx)
		return err
	})
	return emails, err
}

// SetOperator grants an account the operator's rights, or revokes them.
func SetOperator(ctx context.Context, c config.Config, email string, operator bool) error {
	return onDatabase(ctx, c, func(db *models.DB) error {
		return (&accounts.Service{DB: db}).SetOperator(ctx, email, operator)
	})
}

// WelcomeCode returns a new one-time code that creates the first account. Earlier codes are
// void.
func WelcomeCode(ctx context.Context, c config.Config) (code string, err error) {
	err = onDatabase(ctx, c, func(db *models.DB) (err error) {
		code, err = (&accounts.Service{DB: db}).FirstLink(ctx)
		if err == nil && code == "" {
			err = errors.New("this installation already has an account: sign in with it, or ask one of its owners " +
				"for an invitation")
		}
		return err
	})
	return code, err
}

// RecoveryCode returns a one-time code with which an account gets a new password. Earlier codes of the
// account are void.
func RecoveryCode(ctx context.Context, c config.Config, email string) (code string, err error) {
	err = onDatabase(ctx, c, func(db *models.DB) (err error) {
		code, err = (&accounts.Service{DB: db}).RecoveryCode(ctx, email)
		return err
	})
	return code, err
}

// said returns the fault that a service said to its caller, without what the layers above add for a log. Errors without
// a fault are returned unchanged: only their whole text says what failed.
func said(err error) error {
	if known, ok := errors.AsType[*fault.Error](err); ok {
		return known
	}
	return err
}

// onDatabase calls work with a database that a server has created, and may be running on.
func onDatabase(ctx context.Context, c config.Config, work func(*models.DB) error) error {
	if c.DatabaseURL == "" {
		if _, err := os.Stat(c.SQLitePath()); err != nil {
			return fmt.Errorf("cannot open the database (%w): set the server's data directory with --data-dir", err)
		}
	}
	db, err := openDatabase(ctx, c)
	if err != nil {
		return err
	}
	var lag migrations.Lag
	if err = db.CheckSchema(ctx); err == nil {
		lag, err = migrations.Behind(ctx, db.SQL(), db.Dialect())
	}
	switch {
	case err != nil:
		err = explain(c, "cannot read the database", err)
	case lag != migrations.LacksNothing:
		err = errors.New("the database schema isn't up to date: run `postern migrate` first")
	default:
		err = said(work(db))
	}
	return errors.Join(err, db.Close())
}
