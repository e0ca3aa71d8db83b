// Package models is the only package that contains SQL: the rows of all tables, and the named queries that services
// use.
//
// It owns row types, transactions, connections with their deadlines, and the two database dialects. It leaves rules and
// validation to the services. Times are in UTC with microseconds, the finest resolution that both databases store.
package models

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"postern/migrations"
)

// DB is an open database of either dialect.
type DB struct {
	dialect migrations.Dialect
	write   *gorm.DB
	read    *gorm.DB // the same pool as write on PostgreSQL
	feed    *gorm.DB // the same as read on SQLite, as is bulk
	bulk    *gorm.DB
	server  *server // nil on SQLite
	queue   *queue  // of SQLite's one writer, nil on PostgreSQL
	turns   *turns  // of audit chains, nil on SQLite

	importing  *queue      // of imports in pieces, on SQLite
	unwritable atomic.Bool // the last change failed because of SQLite's disk
	locked     atomic.Bool // the last change failed because another process held SQLite's lock
}

// ErrNotFound is returned by queries for one row that does not exist.
var ErrNotFound = gorm.ErrRecordNotFound

// ErrDuplicate is returned by an insert that violates a unique index.
var ErrDuplicate = gorm.ErrDuplicatedKey

// ErrReferenced is returned by a deletion of a row that other rows refer to.
var ErrReferenced = gorm.ErrForeignKeyViolated

// Open is OpenWith with the defaults.
func Open(ctx context.Context, databaseURL, sqlitePath string) (*DB, error) {
	return OpenWith(ctx, Options{DatabaseURL: databaseURL, SQLitePath: sqlitePath})
}

// OpenWith connects to PostgreSQL if the options have a DatabaseURL. Otherwise it opens the SQLite file, which it
// creates if needed. It doesn't change the schema; see Migrate.
func OpenWith(ctx context.Context, o Options) (*DB, error) {
	db, err := Prepare(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := db.Reach(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// Prepare is OpenWith without connecting to PostgreSQL. Until Reach has returned nil, queries may fail, or find a
// schema that isn't this program's.
func Prepare(ctx context.Context, o Options) (*DB, error) {
	if o.DatabaseURL != "" {
		return preparePostgres(o)
	}
	return openSQLite(ctx, o.SQLitePath, o.Deadlines.orDefaults())
}

// Reach connects to a database that was prepared.
func (d *DB) Reach(ctx context.Context) error {
	if d.server == nil {
		return d.Ping(ctx)
	}
	if err := d.server.checkPooler(ctx); err != nil {
		return fmt.Errorf("open PostgreSQL: %w", hideURL(err))
	}
	if err := d.Ping(ctx); err != nil {
		return fmt.Errorf("open PostgreSQL: %w", hideURL(err))
	}
	return nil
}

// sqliteWriter are the settings of the connection that writes. An import of a million keys inserts into a dozen
// indexes, two of them in random order: the default cache of 2 MB reads most pages again and again, and a checkpoint
// every 4 MB writes them as often. What undoes a statement is in memory: as a file it takes 5% of the time.
const sqliteWriter = "&_pragma=journal_mode(WAL)&_txlock=immediate" +
	"&_pragma=cache_size(-32768)&_pragma=wal_autocheckpoint(4000)&_pragma=temp_store(memory)"

// openSQLite opens the file twice. Writers share one connection and begin IMMEDIATE: of two transactions that begin
// deferred and write after reading, one fails with SQLITE_BUSY at once instead of waiting. Readers have their own
// connections, so that an export that reads for a minute blocks no other query (WAL). A change waits for the lock of
// another process as long as for its turn. The driver ignores _txlock if _time_format is set; its default is the format
// that is needed.
func openSQLite(ctx context.Context, path string, deadlines Deadlines) (*DB, error) {
	dsn := func(extra string) string {
		return "file:" + (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath() +
			"?_pragma=busy_timeout(" + milliseconds(deadlines.Queue) + ")" +
			"&_pragma=foreign_keys(1)&_pragma=synchronous(FULL)" + extra
	}
	if err := keepPrivate(path); err != nil {
		return nil, fmt.Errorf("open SQLite file %s: %w", path, err)
	}
	write, err := gorm.Open(sqliteAt(dsn(sqliteWriter)), gormConfig())
	if err != nil {
		return nil, fmt.Errorf("open SQLite file %s: %w", path, err)
	}
	db := &DB{
		dialect:   migrations.SQLite,
		write:     write,
		read:      write,
		queue:     newQueue(deadlines.Queue),
		importing: newQueue(importTurn),
	}
	pool := db.SQL()
	pool.SetMaxOpenConns(1)
	if err := pool.PingContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open SQLite file %s: %w", path, err), db.Close())
	}
	if db.read, err = gorm.Open(sqliteAt(dsn("&_pragma=query_only(1)")), gormConfig()); err != nil {
		return nil, errors.Join(fmt.Errorf("open SQLite file %s for reading: %w", path, err), db.Close())
	}
	db.feed, db.bulk = db.read, db.read
	return db, nil
}

func sqliteAt(dsn string) gorm.Dialector {
	return sqliteDialector{&sqlite.Dialector{DSN: dsn}}
}

// keepPrivate creates the file readable by its owner only, before SQLite creates it
// readable by all. SQLite gives its other files the same mode.
func keepPrivate(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	return file.Close()
}

func gormConfig() *gorm.Config {
	return &gorm.Config{
		Logger:                 logger.Discard, // errors are returned, and statements can carry secrets
		NowFunc:                Now,
		SkipDefaultTransaction: true,
		TranslateError:         true,
	}
}

// Now returns the current time as both databases store it.
func Now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

// Migrate brings the schema up to date, and returns how many migrations of Postern and of the job queue it applied. On
// PostgreSQL, it uses its own connections, which have no deadline for statements.
func (d *DB) Migrate(ctx context.Context, log *slog.Logger) (ours, rivers int, err error) {
	steps := d.SQL()
	if d.server != nil {
		steps = d.server.pool(d.server.migrationLimits(), 2)
		defer func() { err = errors.Join(err, steps.Close()) }()
	}
	for attempt := 1; ; attempt++ {
		done, jobs, err := migrations.Up(ctx, steps, d.dialect, log)
		ours, rivers = ours+done, rivers+jobs
		switch {
		case err == nil:
			if d.server != nil {
				d.server.complete.Store(true)
			}
			return ours, rivers, nil
		case attempt == migrateAttempts || !worthRepeating(err):
			return ours, rivers, err
		}
		log.Warn("a schema migration is waiting for a lock", "error", err)
		select {
		case <-ctx.Done():
			return ours, rivers, ctx.Err()
		case <-time.After(migratePause):
		}
	}
}

// Migrations that have to wait for a lock are retried for about two minutes. Between the tries, queries that wait
// behind them can run.
const (
	migrateAttempts = 30
	migratePause    = time.Second
)

// CheckSchema returns a migrations.UnknownSchemaError if the schema is one that this program must not use.
func (d *DB) CheckSchema(ctx context.Context) error {
	return migrations.Check(ctx, pool(d.read), d.dialect)
}

// ErrBehind means that the schema lacks migrations of this program, and that this process may not apply them.
var ErrBehind = errors.New("the schema is missing steps")

// ErrEmpty is ErrBehind for a database without Postern's tables.
var ErrEmpty = errors.New("the database doesn't have Postern's tables yet")

// UseSchema takes the place of Migrate in a process that may not migrate. It returns ErrEmpty, ErrBehind or a
// migrations.UnknownSchemaError unless this program can use the current schema.
func (d *DB) UseSchema(ctx context.Context) error {
	if err := d.CheckSchema(ctx); err != nil {
		return err
	}
	lag, err := migrations.Behind(ctx, pool(d.read), d.dialect)
	switch {
	case err != nil:
		return err
	case lag == migrations.LacksAll:
		return ErrEmpty
	case lag == migrations.LacksSteps:
		return ErrBehind
	}
	if d.server != nil {
		d.server.complete.Store(true)
	}
	return nil
}

// MayMigrate reports whether the database role that this process uses may migrate the database.
func (d *DB) MayMigrate(ctx context.Context) (bool, error) {
	return migrations.MayMigrate(ctx, pool(d.read), d.dialect)
}

// Dialect returns the kind of database.
func (d *DB) Dialect() migrations.Dialect { return d.dialect }

// SQL returns the pool for writes, for parts that have their own SQL: migrations and the job queue.
func (d *DB) SQL() *sql.DB { return pool(d.write) }

// ReadSQL returns the pool for reads, for queries of these parts that must not wait for SQLite's writers.
func (d *DB) ReadSQL() *sql.DB { return pool(d.read) }

func pool(db *gorm.DB) *sql.DB {
	p, err := db.DB()
	if err != nil {
		panic(fmt.Sprintf("models: GORM without a pool: %v", err))
	}
	return p
}

// Pools returns the statistics of the connection pools, by name.
func (d *DB) Pools() map[string]sql.DBStats {
	pools := map[string]sql.DBStats{"write": d.SQL().Stats()}
	for name, g := range map[string]*gorm.DB{"read": d.read, "feed": d.feed, "bulk": d.bulk} {
		if g != d.write && (name == "read" || g != d.read) {
			pools[name] = pool(g).Stats()
		}
	}
	return pools
}

// ErrUnwritable means that SQLite's disk can't be written to.
var ErrUnwritable = errors.New("the database's disk isn't writable")

// Ping returns an error that Unavailable recognizes if the database doesn't respond, or if the last change couldn't be
// written to SQLite's disk and the disk still isn't writable. Another process that writes to SQLite's file isn't an
// outage, because the file can still be read: see Locked.
func (d *DB) Ping(ctx context.Context) error {
	if d.server != nil {
		if err := d.SQL().PingContext(ctx); err != nil {
			return fmt.Errorf("%w: %w", errUnreachable, err)
		}
		return nil
	}
	done := make(chan error, 1)
	go func() { done <- d.pingFile(ctx) }() // SQLite waits for a lock even if ctx has ended
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", errUnreachable, ctx.Err())
	}
}

// pingFile reads SQLite's file with a connection that changes do not need.
func (d *DB) pingFile(ctx context.Context) error {
	var tables int64
	if err := d.read.WithContext(ctx).Raw("SELECT count(*) FROM sqlite_master").Scan(&tables).Error; err != nil {
		return fmt.Errorf("%w: %w", errUnreachable, err)
	}
	if !d.unwritable.Load() {
		return nil
	}
	err := d.write.WithContext(ctx).Exec("UPDATE schema_compatibility SET version = version").Error
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnwritable, err)
	}
	d.unwritable.Store(false)
	return nil
}

// Locked reports whether the last change failed because another process held the lock of SQLite's file.
func (d *DB) Locked() bool { return d.locked.Load() }

// Close ends all connections.
func (d *DB) Close() error {
	var failed []error
	closed := map[*gorm.DB]bool{nil: true}
	for _, db := range []*gorm.DB{d.bulk, d.feed, d.read, d.write} {
		if !closed[db] {
			closed[db] = true
			failed = append(failed, pool(db).Close())
		}
	}
	return errors.Join(failed...)
}
