package models

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/gorm"

	"postern/migrations"
)

// Copied has the tables and rows that CopyTo has copied.
type Copied struct {
	Tables, Rows, Jobs int64
}

// NotEmptyError means that the target of CopyTo has rows, or tables that aren't Postern's.
type NotEmptyError struct {
	Tables  []string
	Foreign bool // the tables are not Postern's
}

func (e *NotEmptyError) Error() string {
	const shown = 5
	text := strings.Join(e.Tables[:min(shown, len(e.Tables))], ", ")
	if more := len(e.Tables) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	if e.Foreign {
		return "the target database isn't empty: it has the tables " + text
	}
	return "the target database isn't empty: it has rows in " + text
}

// CopyTo copies all rows of a SQLite database, and its jobs that have not ended, to an empty PostgreSQL database with
// the same schema. It reads a consistent state of the source and writes a single transaction, row by row in the order
// of foreign keys. Before it commits, it reads back and compares every row, and calls check, whose error rolls the copy
// back. note is called before each table.
func (d *DB) CopyTo(
	ctx context.Context, target *DB, note func(table string), check func(from, to *Tx) error,
) (done Copied, err error) {
	if d.dialect != migrations.SQLite || target.dialect != migrations.Postgres {
		return done, errors.New("models: rows can only be copied from SQLite to PostgreSQL")
	}
	err = d.Consistent(ctx, func(from *Tx) error {
		return target.alone(ctx, func(to *Tx, conn *sql.Conn) error {
			c := copying{ctx: ctx, from: from, to: to, conn: conn, note: note}
			if err := c.run(&done); err != nil {
				return err
			}
			return check(from, to)
		})
	})
	if err != nil {
		return done, err
	}
	// Without statistics the first queries would read whole tables.
	_, err = target.SQL().ExecContext(ctx, "ANALYZE")
	return done, err
}

// alone runs fn in a transaction on a connection without deadlines for statements.
func (d *DB) alone(ctx context.Context, fn func(*Tx, *sql.Conn) error) (err error) {
	g, err := d.server.openPool(d.server.migrationLimits(), 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pool(g).Close()) }()
	conn, err := pool(g).Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	session := g.Session(&gorm.Session{NewDB: true, Context: ctx})
	session.Statement.ConnPool = tx
	if err := fn(d.tx(session), conn); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// CheckEmpty returns a NotEmptyError if a PostgreSQL database has rows in Postern's tables, or tables that aren't
// Postern's. Postern's tables may be missing.
func (d *DB) CheckEmpty(ctx context.Context) error {
	return d.Consistent(ctx, func(tx *Tx) error {
		tables, err := tx.postgresTables()
		if err != nil {
			return err
		}
		ours, err := hasGoose(tx)
		if err != nil {
			return err
		}
		if !ours && len(tables) > 0 {
			return &NotEmptyError{Tables: slices.Sorted(maps.Keys(tables)), Foreign: true}
		}
		return tx.checkEmpty(tables)
	})
}

func hasGoose(tx *Tx) (found bool, err error) {
	return found, tx.db.Raw("SELECT to_regclass('goose_db_version') IS NOT NULL").Scan(&found).Error
}

// checkEmpty returns a NotEmptyError if a table has rows.
func (t *Tx) checkEmpty(tables map[string][]copiedColumn) error {
	var filled []string
	for _, table := range slices.Sorted(maps.Keys(tables)) {
		var found bool
		query := "SELECT EXISTS (SELECT FROM " + pgx.Identifier{table}.Sanitize() + ")"
		if err := t.db.Raw(query).Scan(&found).Error; err != nil {
			return err
		}
		if found {
			filled = append(filled, table)
		}
	}
	if len(filled) > 0 {
		return &NotEmptyError{Tables: filled}
	}
	return nil
}

// copiedColumn is a column of a table on PostgreSQL.
type copiedColumn struct {
	name, kind string
	nullable   bool
	numbered   bool // by a sequence
}

// postgresTables returns the columns of all tables but those of goose and River.
func (t *Tx) postgresTables() (map[string][]copiedColumn, error) {
	rows, err := t.sqlTx.QueryContext(t.db.Statement.Context, `
		SELECT c.table_name, c.column_name, c.data_type, c.is_nullable = 'YES', c.is_identity = 'YES'
		FROM information_schema.columns c
		JOIN information_schema.tables t USING (table_schema, table_name)
		WHERE c.table_schema = current_schema() AND t.table_type = 'BASE TABLE'
		ORDER BY c.table_name, c.ordinal_position`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	tables := map[string][]copiedColumn{}
	for rows.Next() {
		var table string
		var c copiedColumn
		if err := rows.Scan(&table, &c.name, &c.kind, &c.nullable, &c.numbered); err != nil {
			return nil, err
		}
		if !ofLibrary(table) {
			tables[table] = append(tables[table], c)
		}
	}
	return tables, rows.Err()
}

// ofLibrary reports whether a table belongs to the schema's own record or to the job queue.
func ofLibrary(table string) bool {
	return table == "schema_compatibility" || strings.HasPrefix(table, "goose_") || strings.HasPrefix(table, "river_")
}

// copying is one run of CopyTo.
type copying struct {
	ctx  context.Context
	from *Tx
	to   *Tx
	conn *sql.Conn // of to's transaction
	note func(table string)
}

func (c copying) run(done *Copied) error {
	tables, err := c.to.postgresTables()
	if err != nil {
		return err
	}
	if err := c.to.checkEmpty(tables); err != nil {
		return err
	}
	order, err := c.order(tables)
	if err != nil {
		return err
	}
	// The trigger would give revisions new ids; readers of the feed remember the old ones.
	if err := c.to.db.Exec("ALTER TABLE revisions DISABLE TRIGGER USER").Error; err != nil {
		return err
	}
	for _, table := range order {
		c.note(table)
		rows, err := c.table(table, tables[table])
		if err != nil {
			return fmt.Errorf("models: copy the table %s: %w", table, err)
		}
		done.Tables, done.Rows = done.Tables+1, done.Rows+rows
	}
	if err := c.to.db.Exec("ALTER TABLE revisions ENABLE TRIGGER USER").Error; err != nil {
		return err
	}
	if done.Jobs, err = c.jobs(); err != nil {
		return fmt.Errorf("models: copy the jobs: %w", err)
	}
	return nil
}

// order sorts the tables so that each follows the tables that it refers to.
func (c copying) order(tables map[string][]copiedColumn) ([]string, error) {
	var edges []struct{ Child, Parent string }
	err := c.to.db.Raw(`SELECT DISTINCT conrelid::regclass::text AS child, confrelid::regclass::text AS parent
		FROM pg_constraint
		WHERE contype = 'f' AND conrelid <> confrelid AND connamespace = current_schema()::regnamespace`).
		Scan(&edges).Error
	if err != nil {
		return nil, err
	}
	waits := map[string]map[string]bool{}
	for table := range tables {
		waits[table] = map[string]bool{}
	}
	for _, e := range edges {
		if waits[e.Child] != nil && waits[e.Parent] != nil {
			waits[e.Child][e.Parent] = true
		}
	}
	var order []string
	for len(waits) > 0 {
		var ready []string
		for _, table := range slices.Sorted(maps.Keys(waits)) {
			if len(waits[table]) == 0 {
				ready = append(ready, table)
			}
		}
		if len(ready) == 0 {
			return nil, fmt.Errorf("models: the tables %v refer to each other", slices.Sorted(maps.Keys(waits)))
		}
		for _, table := range ready {
			delete(waits, table)
			for _, parents := range waits {
				delete(parents, table)
			}
		}
		order = append(order, ready...)
	}
	return order, nil
}

// table copies the rows of a table and compares them. It returns their number.
func (c copying) table(name string, columns []copiedColumn) (int64, error) {
	names := make([]string, 0, len(columns))
	quoted := make([]string, 0, len(columns))
	for _, column := range columns {
		names = append(names, column.name)
		quoted = append(quoted, pgx.Identifier{column.name}.Sanitize())
	}
	//nolint:gosec // G202: the names are those of tables and columns that exist, and are quoted
	query := "SELECT " + strings.Join(quoted, ", ") + " FROM " + pgx.Identifier{name}.Sanitize()
	read, err := c.from.sqlTx.QueryContext(c.ctx, query) //nolint:rowserrcheck // CopyFrom asks sourceRows.Err
	if err != nil {
		return 0, err
	}
	defer read.Close()
	source := &sourceRows{rows: read, columns: columns}
	err = c.raw(func(conn *pgx.Conn) error {
		_, err := conn.CopyFrom(c.ctx, pgx.Identifier{name}, names, source)
		return errors.Join(err, read.Close())
	})
	if err != nil {
		return 0, err
	}
	copied, err := c.readBack(query, columns)
	if err != nil {
		return 0, err
	}
	if copied != source.sum {
		return 0, fmt.Errorf("its %d rows on PostgreSQL differ from its %d rows on SQLite", copied.rows,
			source.sum.rows)
	}
	return copied.rows, c.continueNumbers(name, columns)
}

// raw runs fn with the connection below database/sql, which is in to's transaction.
func (c copying) raw(fn func(*pgx.Conn) error) error {
	return c.conn.Raw(func(driver any) error {
		conn, ok := driver.(*stdlib.Conn)
		if !ok {
			return fmt.Errorf("models: the connection is a %T", driver)
		}
		return fn(conn.Conn())
	})
}

// readBack sums up the rows of a table on PostgreSQL.
func (c copying) readBack(query string, columns []copiedColumn) (sum rowSum, err error) {
	err = c.raw(func(conn *pgx.Conn) error {
		rows, err := conn.Query(c.ctx, query)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			values, err := rows.Values()
			if err == nil {
				err = sum.add(columns, values)
			}
			if err != nil {
				return err
			}
		}
		return rows.Err()
	})
	return sum, err
}

// continueNumbers sets the sequences of a table to continue after its rows.
func (c copying) continueNumbers(table string, columns []copiedColumn) error {
	for _, column := range columns {
		if !column.numbered {
			continue
		}
		name := pgx.Identifier{column.name}.Sanitize()
		err := c.to.db.Exec("SELECT setval(pg_get_serial_sequence(?, ?), coalesce(max("+name+"), 1), max("+name+
			") IS NOT NULL) FROM "+pgx.Identifier{table}.Sanitize(), table, column.name).Error
		if err != nil {
			return err
		}
	}
	return nil
}
