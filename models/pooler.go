package models

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// ErrTransactionPooling means that the address belongs to a connection pooler that gives each transaction another
// session. Session settings, LISTEN and the lock of migrations would end up in sessions of other clients.
var ErrTransactionPooling = errors.New("the database URL points to a connection pooler in transaction mode (such as " +
	"pgbouncer with pool_mode = transaction), which Postern doesn't support: set pool_mode = session, or connect to " +
	"PostgreSQL directly")

// ErrPoolTooSmall means that the address belongs to a connection pooler that has too few sessions left. A process that
// waits for a session can't follow changes, and would keep accepting revoked keys.
var ErrPoolTooSmall = errors.New("the database URL points to a connection pooler with fewer free sessions than " +
	"--database-max-connections: allow that many for each process plus one more process (pgbouncer's " +
	"default_pool_size), lower the setting, or connect to PostgreSQL directly")

// poolerRounds is how often both connections are queried. Other clients of a pooler could take the sessions in between
// in just the order that hides it.
const poolerRounds = 5

// checkPooler refuses a pooler in transaction mode, and one with fewer sessions than the process may use. A
// pooler invents the process id that it gives its clients; in transaction mode the real one changes from one
// statement to the next, or two clients have the same.
func (s *server) checkPooler(ctx context.Context) error {
	first, err := s.connectPlain(ctx)
	if err != nil {
		return err
	}
	defer first.Close(context.WithoutCancel(ctx))
	pid, err := sessionOf(ctx, first)
	if err != nil || pid == first.PgConn().PID() {
		return err
	}
	second, err := s.connectPlain(ctx)
	if err != nil {
		return fmt.Errorf("open a second connection through the connection pooler: %w", err)
	}
	defer second.Close(context.WithoutCancel(ctx))
	for range poolerRounds {
		other, err := sessionOf(ctx, second)
		if err != nil {
			return err
		}
		again, err := sessionOf(ctx, first)
		if err != nil {
			return err
		}
		if other == pid || again != pid {
			return ErrTransactionPooling
		}
	}
	return s.checkPoolSize(ctx, s.most-2)
}

// checkPoolSize opens more sessions at the same time. A pooler accepts connections for which it has no
// session, and lets their first statement wait.
func (s *server) checkPoolSize(ctx context.Context, more int) error {
	for range more {
		conn, err := s.connectPlain(ctx)
		if err != nil {
			return fmt.Errorf("%w (%w)", ErrPoolTooSmall, err)
		}
		defer conn.Close(context.WithoutCancel(ctx))
		if _, err := sessionOf(ctx, conn); err != nil {
			return fmt.Errorf("%w (%w)", ErrPoolTooSmall, err)
		}
	}
	return nil
}

// connectPlain opens a connection that prepares no statements, since a pooler may
// not pass them on.
func (s *server) connectPlain(ctx context.Context) (*pgx.Conn, error) {
	config := s.connector(limits{silence: s.deadlines.Connect})
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	return pgx.ConnectConfig(ctx, config)
}

func sessionOf(ctx context.Context, conn *pgx.Conn) (pid uint32, err error) {
	if err := conn.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&pid); err != nil {
		return 0, fmt.Errorf("query the session: %w", err)
	}
	return pid, nil
}
