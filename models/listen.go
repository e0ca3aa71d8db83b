package models

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"postern/migrations"
)

// revisionChannel is the PostgreSQL channel that the trigger of revisions notifies.
// A notice has no content: listeners read the feed.
const revisionChannel = "postern_revisions"

// relisten is how long to wait before a lost connection is replaced. Listeners also
// poll, so a gap delays changes but loses none.
const relisten = 2 * time.Second

// Listen calls heard whenever a replica commits a revision, until ctx ends. It also calls heard after each reconnect,
// because it may have missed notices. It calls disconnected with the reason when a connection breaks. On SQLite, which
// has one process and no notices, it returns at once.
func (d *DB) Listen(ctx context.Context, heard func(), disconnected func(error)) {
	if d.dialect != migrations.Postgres {
		return
	}
	for ctx.Err() == nil {
		if err := d.listen(ctx, heard); err != nil && ctx.Err() == nil {
			disconnected(err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(relisten):
		}
	}
}

// listen keeps one connection for as long as it lasts. It ends with an error.
func (d *DB) listen(ctx context.Context, heard func()) error {
	c, err := pgx.ConnectConfig(ctx, d.server.connector(limits{}))
	if err != nil {
		return fmt.Errorf("models: listen: %w", err)
	}
	defer func() {
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), pingWithin)
		defer stop()
		_ = c.Close(ctx) // broken, or not needed any more
	}()
	begin, stop := context.WithTimeout(ctx, d.server.deadlines.Feed)
	_, err = c.Exec(begin, "LISTEN "+revisionChannel)
	stop()
	if err != nil {
		return fmt.Errorf("models: listen: %w", err)
	}
	heard()
	for {
		if err := waitForNotice(ctx, c); err != nil {
			return err
		}
		heard()
	}
}

// askEvery is how often a connection without notices is checked for whether it is alive. One that is half open looks
// exactly like one without notices.
const askEvery = 5 * time.Second

func waitForNotice(ctx context.Context, c *pgx.Conn) error {
	for {
		wait, stop := context.WithTimeout(ctx, askEvery)
		_, err := c.WaitForNotification(wait)
		stop()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil || !pgconn.Timeout(err) {
			return fmt.Errorf("models: wait for a notice: %w", err)
		}
		ask, stop := context.WithTimeout(ctx, pingWithin)
		err = c.Ping(ask)
		stop()
		if err != nil {
			return fmt.Errorf("models: the connection for notices doesn't respond: %w", err)
		}
	}
}
