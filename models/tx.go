package models

import (
	"context"
	"database/sql"
	"fmt"

	"gorm.io/gorm"

	"postern/migrations"
	"postern/platform/traces"
)

// Tx has all queries. It is a transaction, or the pool for single reads.
type Tx struct {
	db      *gorm.DB
	dialect migrations.Dialect
	sqlTx   *sql.Tx
	audit   []AuditEntry // to be chained at the end
	turns   *turns       // of audit chains on PostgreSQL, nil on SQLite, where one transaction writes at a time
	taken   map[string]func()
}

// writeAttempts bounds how often a transaction is tried when it conflicts with others.
const writeAttempts = 3

// Write runs fn in one transaction: row, audit entry, revision and job are committed together or not at all. The
// function that Alongside put into ctx runs last. If the server rolled the transaction back because of another one (a
// deadlock, or a lock that was held for too long), fn runs again.
func (d *DB) Write(ctx context.Context, fn func(*Tx) error) error {
	ctx, span := traces.Start(ctx, traces.Internal, "transaction")
	defer span.End()
	for attempt := 1; ; attempt++ {
		err := d.writeOnce(ctx, fn)
		d.locked.Store(lockedOut(err))
		if storageFailed(err) {
			d.unwritable.Store(true) // until Ping can write; a change may fail, or write nothing, for other reasons
		}
		if attempt == writeAttempts || !worthRepeating(err) || ctx.Err() != nil {
			traceOutcome(span, err)
			return asFault(err)
		}
	}
}

func (d *DB) writeOnce(ctx context.Context, fn func(*Tx) error) error {
	transact := func(db *gorm.DB) error {
		tx := &Tx{}
		defer func() { tx.endTurns() }()
		return db.Transaction(func(g *gorm.DB) error {
			tx = d.tx(g)
			if err := fn(tx); err != nil {
				return err
			}
			if last, ok := ctx.Value(alongsideKey{}).(func(*Tx) error); ok {
				if err := last(tx); err != nil {
					return err
				}
			}
			return tx.chainAudit()
		})
	}
	if d.queue != nil {
		return d.queue.with(ctx, d.write, transact)
	}
	return transact(d.write.WithContext(ctx))
}

type alongsideKey struct{}

// Alongside returns a context with which every Write calls last at the end of its transaction. If last fails, the
// transaction is rolled back.
func Alongside(ctx context.Context, last func(*Tx) error) context.Context {
	return context.WithValue(ctx, alongsideKey{}, last)
}

// Read returns the pool, for queries that don't need a consistent state.
func (d *DB) Read(ctx context.Context) *Tx {
	return &Tx{db: d.read.WithContext(ctx), dialect: d.dialect}
}

// Feed is Read for the change feed, which on PostgreSQL has its own connections with a short deadline, so that neither
// slow requests nor dead connections delay it.
func (d *DB) Feed(ctx context.Context) *Tx {
	return &Tx{db: d.feed.WithContext(ctx), dialect: d.dialect}
}

// Bulk is Read for queries over all rows of large tables, which may take a long time.
func (d *DB) Bulk(ctx context.Context) *Tx {
	return &Tx{db: d.bulk.WithContext(ctx), dialect: d.dialect}
}

// Consistent runs fn in a read-only transaction that sees one state of the
// whole database however long it takes (REPEATABLE READ on PostgreSQL, a
// deferred transaction over WAL on SQLite).
func (d *DB) Consistent(ctx context.Context, fn func(*Tx) error) error {
	options := &sql.TxOptions{}
	if d.dialect == migrations.Postgres {
		options = &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
	}
	return asFault(d.bulk.WithContext(ctx).Transaction(func(g *gorm.DB) error {
		return fn(d.tx(g))
	}, options))
}

func (d *DB) tx(g *gorm.DB) *Tx {
	sqlTx, ok := g.Statement.ConnPool.(*sql.Tx)
	if !ok {
		panic(fmt.Sprintf("models: transaction over %T", g.Statement.ConnPool))
	}
	return &Tx{db: g, dialect: d.dialect, sqlTx: sqlTx, turns: d.turns}
}

// SQL returns the database/sql transaction, for inserts of the job queue. It is nil outside Write and Consistent.
func (t *Tx) SQL() *sql.Tx { return t.sqlTx }
