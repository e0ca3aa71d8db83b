package models

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/glebarez/sqlite"
	"github.com/jackc/pgx/v5/pgconn"
	"gorm.io/driver/postgres"

	"postern/platform/fault"
)

// unavailable are PostgreSQL's codes for trouble that passes
// (https://www.postgresql.org/docs/current/errcodes-appendix.html), in addition to class 08 (connection exceptions) and
// 53 (insufficient resources).
var unavailable = map[string]bool{
	"25P03": true, // idle_in_transaction_session_timeout
	"25006": true, // read-only: a standby that has not been promoted yet
	"40001": true, // serialization failure
	"40P01": true, // deadlock
	"55P03": true, // lock_timeout
	"57014": true, // statement_timeout, or canceled
	"57P01": true, // admin shutdown
	"57P02": true, // crash shutdown
	"57P03": true, // starting up, or shutting down
	"57P05": true, // idle_session_timeout
}

// incomplete are PostgreSQL's codes for what a restore has not brought back yet.
var incomplete = map[string]bool{
	"3D000": true, // no such database
	"3F000": true, // no such schema
	"42P01": true, // no such table
	"55000": true, // a database that takes no connections
	"42P10": true, // no unique index for ON CONFLICT: indexes come last
}

// The result codes of SQLite for trouble that passes (https://sqlite.org/rescode.html).
const (
	sqliteBusy   = 5 // another process or connection holds the file
	sqliteLocked = 6 // the same
)

// sqliteStorage are SQLite's codes for a disk that fails, all of which an operator can end while the server runs.
var sqliteStorage = map[int]bool{
	8:  true, // READONLY: the file system was mounted read-only
	10: true, // IOERR
	13: true, // FULL
	14: true, // CANTOPEN: of the log or a temporary file, too
}

// errUnreachable marks an error of the network as one of the database's network:
// other packages have upstreams and issuers that do not answer.
var errUnreachable = errors.New("the database isn't responding")

// errIncomplete marks an error about a part of the schema that was there before.
var errIncomplete = errors.New("parts of the database are missing; a restore may be in progress")

// Forbidden reports whether err means that the database's role lacks a right (PostgreSQL's
// insufficient_privilege). Retrying does not help.
func Forbidden(err error) bool {
	refused, ok := errors.AsType[*pgconn.PgError](err)
	return ok && refused.Code == "42501"
}

// Unavailable reports whether err means that the database could not be reached or did not
// answer in time. The same call may succeed a moment later.
func Unavailable(err error) bool {
	if errors.Is(err, context.Canceled) { // the caller's own doing
		return false
	}
	if errors.Is(err, errIncomplete) {
		return true
	}
	if server, ok := errors.AsType[*pgconn.PgError](err); ok {
		return unavailable[server.Code] || strings.HasPrefix(server.Code, "08") || exhausted(err)
	}
	if code, ok := sqliteCode(err); ok {
		return lockedOut(err) || sqliteStorage[code]
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	return pgconn.SafeToRetry(err) || isAny(err,
		errUnreachable, errSilent, errQueue, errTurn, driver.ErrBadConn, pgconn.ErrConnClosed)
}

func isAny(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
}

// retryAfter is when to come back: most outages are a connection that is replaced.
const retryAfter = time.Second

// asFault turns an error that Unavailable recognizes into a fault, so that every caller gets 503.
func asFault(err error) error {
	if !Unavailable(err) || fault.KindOf(err) != fault.Internal {
		return err
	}
	code, text := "database_unavailable", "The database isn't responding. Try again in a moment."
	switch {
	case errors.Is(err, errIncomplete):
		text = "Parts of the database are missing. A restore may be in progress. Try again in a moment."
	case exhausted(err):
		text = "The database server is out of disk space, memory or connections, or has reached another limit. " +
			"Try again in a moment."
	case storageFailed(err):
		text = "The server can't access its disk. Try again in a moment."
	case lockedOut(err):
		code, text = "database_busy", "Another process has locked the database file. Try again in a moment."
	}
	return fault.New(fault.Unavailable, code, "%s", text).After(retryAfter).Because(err)
}

// lockedOut reports whether err means that another process held the lock of SQLite's file.
func lockedOut(err error) bool {
	code, ok := sqliteCode(err)
	return ok && (code == sqliteBusy || code == sqliteLocked)
}

// exhausted reports whether err means that PostgreSQL lacks resources, such as disk space or connections (class 53).
func exhausted(err error) bool {
	refused, ok := errors.AsType[*pgconn.PgError](err)
	return ok && strings.HasPrefix(refused.Code, "53")
}

// storageFailed reports whether err means that SQLite's disk is full, read-only or broken.
func storageFailed(err error) bool {
	code, ok := sqliteCode(err)
	return ok && sqliteStorage[code]
}

// postgresDialector marks what the network and a restore do, and gives outages a
// public side.
type postgresDialector struct {
	*postgres.Dialector
	server *server
}

// Translate implements gorm.ErrorTranslator.
func (d postgresDialector) Translate(err error) error {
	_, network := errors.AsType[*net.OpError](err)
	if network || isAny(err, net.ErrClosed, io.EOF, io.ErrUnexpectedEOF, context.DeadlineExceeded) {
		err = fmt.Errorf("%w: %w", errUnreachable, err)
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && incomplete[e.Code] && d.server.complete.Load() {
		err = fmt.Errorf("%w: %w", errIncomplete, err)
	}
	return asFault(d.Dialector.Translate(err))
}

// sqliteDialector gives outages a public side.
type sqliteDialector struct{ *sqlite.Dialector }

// Translate implements gorm.ErrorTranslator.
func (d sqliteDialector) Translate(err error) error { return asFault(d.Dialector.Translate(err)) }

// TimedOut reports whether the server gave up on a statement that took too long.
func TimedOut(err error) bool {
	server, ok := errors.AsType[*pgconn.PgError](err)
	return ok && server.Code == "57014"
}

// worthRepeating reports whether the server undid a transaction only because of what other transactions did in the
// meantime.
func worthRepeating(err error) bool {
	server, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (server.Code == "40001" || server.Code == "40P01" || server.Code == "55P03") || errors.Is(err, errTurn)
}
