package app_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"postern/models"
)

// readTables keeps every column of every table as an output. The tables are read with
// SQL because PostgreSQL compresses large values in its files.
func (a *canaryTest) readTables(db *sql.DB) {
	names := "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
	if a.settings.DatabaseURL != "" {
		names = "SELECT quote_ident(table_name) FROM information_schema.tables WHERE table_schema = " +
			"current_schema() AND table_type = 'BASE TABLE'"
	}
	var tables []string
	a.rows(db, names, func(values []any) { tables = append(tables, asText(values[0])) })
	if len(tables) < 20 {
		a.Fatalf("only %d tables: %v", len(tables), tables)
	}
	var all strings.Builder
	for _, table := range tables {
		a.rows(db, "SELECT * FROM "+table, func(values []any) {
			all.WriteString(table)
			for _, value := range values {
				all.WriteString("\t" + asText(value))
			}
			all.WriteString("\n")
		})
	}
	a.outputs["the tables"] = all.String()
}

func (a *canaryTest) rows(db *sql.DB, query string, each func(values []any)) {
	a.Helper()
	rows, err := db.QueryContext(a.Context(), query)
	if err != nil {
		a.Fatalf("%s: %v", query, err)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		a.Fatal(err)
	}
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			a.Fatalf("%s: %v", query, err)
		}
		each(values)
	}
	if err := rows.Err(); err != nil {
		a.Fatalf("%s: %v", query, err)
	}
}

func asText(value any) string {
	if b, ok := value.([]byte); ok {
		return string(b)
	}
	return fmt.Sprint(value)
}

// readDatabase keeps every audit entry, every table and, on SQLite, the database
// files as outputs.
func (a *canaryTest) readDatabase() {
	db, err := models.Open(a.Context(), a.settings.DatabaseURL.Reveal(), a.settings.SQLitePath())
	if err != nil {
		a.Fatal(err)
	}
	tx := db.Read(a.Context())
	teams, err := tx.AuditTeams()
	if err != nil {
		a.Fatal(err)
	}
	for _, team := range teams {
		entries, err := tx.AuditOf(team, 100_000)
		if err != nil {
			a.Fatal(err)
		}
		a.outputs["all audit entries"] += fmt.Sprintf("%+v\n", entries)
	}
	a.addSigningKeys(tx)
	a.readTables(db.SQL())
	if err := db.Close(); err != nil {
		a.Fatal(err)
	}
	if a.settings.DatabaseURL != "" {
		return
	}
	for _, ending := range []string{"", "-wal"} {
		stored, err := os.ReadFile(filepath.Clean(a.settings.SQLitePath() + ending))
		if err != nil && !os.IsNotExist(err) {
			a.Fatal(err)
		}
		a.outputs["the database's file"+ending] = string(stored)
	}
}
