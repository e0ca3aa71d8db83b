package config

import (
	"fmt"
	"time"
)

// Database has the limits of connections to PostgreSQL, and of changes that wait for SQLite; see models.Options.
type Database struct {
	MaxConns         int
	ConnectTimeout   time.Duration
	StatementTimeout time.Duration
	LockTimeout      time.Duration
	IdleTimeout      time.Duration
	FeedTimeout      time.Duration
	BulkTimeout      time.Duration
	NetworkTimeout   time.Duration
	QueueTimeout     time.Duration
}

// minDatabaseConns leaves some for requests: seven are reserved for the change feed,
// exports and notifications.
const minDatabaseConns = 10

// minDatabaseTimeout refuses values that are too short to be meant, such as 5ms for 5s.
const minDatabaseTimeout = 100 * time.Millisecond

func databaseSettings() []setting {
	return []setting{
		{
			"database-max-connections",
			"27",
			"maximum number of connections from one process to PostgreSQL, of which 7 are reserved for the change " +
				"feed, exports and notifications",
			assignDatabaseConns,
		},
		{
			"database-connect-timeout",
			"3s",
			"timeout for opening a connection to PostgreSQL",
			databaseTimeout(func(d *Database) *time.Duration { return &d.ConnectTimeout }),
		},
		{
			"database-statement-timeout",
			"10s",
			"timeout for one statement in PostgreSQL",
			databaseTimeout(func(d *Database) *time.Duration { return &d.StatementTimeout }),
		},
		{
			"database-lock-timeout",
			"3s",
			"how long a statement can wait for a lock that another transaction holds",
			databaseTimeout(func(d *Database) *time.Duration { return &d.LockTimeout }),
		},
		{
			"database-idle-timeout",
			"2s",
			"how long PostgreSQL waits for the next statement of a transaction before it ends the transaction; must " +
				"be less than --database-lock-timeout, so that a frozen replica doesn't block others",
			databaseTimeout(func(d *Database) *time.Duration { return &d.IdleTimeout }),
		},
		{
			"database-feed-timeout",
			"2s",
			"timeout for one statement of the change feed; a connection that is silent for longer is replaced",
			databaseTimeout(func(d *Database) *time.Duration { return &d.FeedTimeout }),
		},
		{
			"database-bulk-timeout",
			"1h",
			"timeout for one statement during exports, startup and audit log verification",
			databaseTimeout(func(d *Database) *time.Duration { return &d.BulkTimeout }),
		},
		{
			"database-queue-timeout",
			"5s",
			"how long a change can wait to be written to SQLite",
			databaseTimeout(func(d *Database) *time.Duration { return &d.QueueTimeout }),
		},
		{
			"database-network-timeout",
			"10s",
			"how long data sent to or from PostgreSQL can stay unacknowledged before the connection is closed (TCP " +
				"user timeout; keep-alive probes also depend on it)",
			databaseTimeout(func(d *Database) *time.Duration { return &d.NetworkTimeout }),
		},
	}
}

func (d Database) validate(report func(setting, format string, args ...any)) {
	if d.LockTimeout <= d.IdleTimeout {
		report("--database-lock-timeout", "%s must be more than --database-idle-timeout (%s): increase it, or reduce "+
			"--database-idle-timeout",
			d.LockTimeout, d.IdleTimeout)
	}
}

func assignDatabaseConns(c *Config, v string) error {
	if err := number(func(c *Config) *int { return &c.Database.MaxConns })(c, v); err != nil {
		return err
	}
	if c.Database.MaxConns < minDatabaseConns {
		return fmt.Errorf("%s is too low: use %d or more", v, minDatabaseConns)
	}
	return nil
}

func databaseTimeout(field func(*Database) *time.Duration) func(*Config, string) error {
	return func(c *Config, v string) error {
		err := duration(func(c *Config) *time.Duration { return field(&c.Database) })(c, v)
		if err == nil && *field(&c.Database) < minDatabaseTimeout {
			err = fmt.Errorf("%q is too short: use %s or more", v, minDatabaseTimeout)
		}
		return err
	}
}
