package models

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"postern/migrations"
)

// SaveSQLite writes a consistent copy of a SQLite database to a new file. Other connections and processes may read and
// write during this time.
func (d *DB) SaveSQLite(ctx context.Context, path string) error {
	if d.dialect != migrations.SQLite {
		return errors.New("models: only a SQLite database can be copied into a file")
	}
	if _, err := d.SQL().ExecContext(ctx, "VACUUM INTO ?", path); err != nil {
		return fmt.Errorf("models: copy the SQLite database: %w", err)
	}
	return nil
}

// CheckSQLite returns an error if pages, rows or indexes of a SQLite database are damaged.
func (d *DB) CheckSQLite(ctx context.Context) error {
	rows, err := d.SQL().QueryContext(ctx, "PRAGMA quick_check")
	if err != nil {
		return fmt.Errorf("models: check the SQLite database: %w", err)
	}
	defer rows.Close()
	var found []string
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return err
		}
		if line != "ok" {
			found = append(found, line)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("models: check the SQLite database: %w", err)
	}
	if len(found) > 0 {
		return fmt.Errorf("models: the SQLite database is damaged: %s", strings.Join(found[:min(3, len(found))], "; "))
	}
	return nil
}
