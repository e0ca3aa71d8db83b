package models

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"postern/migrations"
)

// revisionChannel is the PostgreSQL channel that AddRevision notifies. The
// notice carries nothing: whoever hears it reads the feed.
const revisionChannel = "postern_revisions"

// relisten is how long to wait before a lost connection is replaced. Whoever
// listens also polls, so a gap costs time and no change.
const relisten = 2 * time.Second

// Listen calls heard whenever a revision is committed by any replica, until ctx
// ends, and once after each reconnect, for what was missed meanwhile. On SQLite,
// which has one process and no notices, it returns at once. lost is told why a
// connection broke.
func (d *DB) Listen(ctx context.Context, heard func(), lost func(error)) {
	if d.dialect != migrations.Postgres {
		return
	}
	for ctx.Err() == nil {
		if err := d.listen(ctx, heard); err != nil && ctx.Err() == nil {
			lost(err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(relisten):
		}
	}
}

// listen holds one connection of the pool for as long as it lasts.
func (d *DB) listen(ctx context.Context, heard func()) error {
	conn, err := d.SQL().Conn(ctx)
	if err != nil {
		return fmt.Errorf("models: listen: %w", err)
	}
	defer func() { _ = conn.Close() }() // the connection beneath it is closed already
	return conn.Raw(func(driver any) error {
		c, ok := driver.(*stdlib.Conn)
		if !ok {
			return fmt.Errorf("models: listen over %T", driver)
		}
		return waitForNotices(ctx, c.Conn(), heard)
	})
}

// waitForNotices ends with its connection: one that a wait was cut off on is in
// no state to go back to the pool.
func waitForNotices(ctx context.Context, c *pgx.Conn, heard func()) error {
	defer c.Close(context.WithoutCancel(ctx))
	if _, err := c.Exec(ctx, "LISTEN "+revisionChannel); err != nil {
		return fmt.Errorf("models: listen: %w", err)
	}
	heard()
	for {
		if _, err := c.WaitForNotification(ctx); err != nil {
			return fmt.Errorf("models: wait for a notice: %w", err)
		}
		heard()
	}
}
