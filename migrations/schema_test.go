package migrations_test

import (
	"bytes"
	"database/sql"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	_ "github.com/glebarez/go-sqlite"
	_ "github.com/jackc/pgx/v5/stdlib"

	"postern/migrations"
	"postern/testkit"
)

var update = flag.Bool("update", false, "write testdata/schema.*.txt")

// TestSchema compares the schema that the migrations create, without the tables of goose and
// River, with testdata/schema.*.txt. Columns are sorted by name: no query depends on their order.
func TestSchema(t *testing.T) {
	eachEmpty(t, func(t *testing.T, db *sql.DB, dialect migrations.Dialect) {
		if _, _, err := migrations.Up(t.Context(), db, dialect, slog.New(slog.DiscardHandler)); err != nil {
			t.Fatal(err)
		}
		var got []byte
		if dialect == migrations.SQLite {
			got = dumpSQLite(t, db)
		} else {
			got = dumpPostgres(t, db)
		}
		golden := filepath.Join("testdata", "schema."+string(dialect)+".txt")
		if *update {
			if err := os.WriteFile(golden, got, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		missing, extra := difference(string(want), string(got))
		if len(missing)+len(extra) > 0 {
			t.Errorf("the schema differs from %s; `-update` writes it\nonly there:\n%s\nonly in the database:\n%s",
				golden, strings.Join(missing, "\n"), strings.Join(extra, "\n"))
		}
		if !bytes.Equal(got, want) && len(missing)+len(extra) == 0 {
			t.Errorf("%s has these lines in another order, or another number of times; `-update` writes it", golden)
		}
	})
}

// difference returns the lines that only one of two texts has.
func difference(want, got string) (missing, extra []string) {
	wanted, dumped := strings.Split(want, "\n"), strings.Split(got, "\n")
	only := func(in, other []string) (list []string) {
		for _, line := range in {
			if !slices.Contains(other, line) {
				list = append(list, line)
			}
		}
		return list
	}
	return only(wanted, dumped), only(dumped, wanted)
}

// eachEmpty runs a test with an empty database of each kind.
func eachEmpty(t *testing.T, run func(t *testing.T, db *sql.DB, dialect migrations.Dialect)) {
	t.Helper()
	testkit.EachDatabase(t, func(t *testing.T, databaseURL string) {
		dialect, driver, source := migrations.Postgres, "pgx", databaseURL
		if databaseURL == "" {
			file := filepath.Join(t.TempDir(), "postern.db")
			dialect, driver, source = migrations.SQLite, "sqlite", "file:"+file+"?_pragma=foreign_keys(1)"
		}
		db, err := sql.Open(driver, source)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		run(t, db, dialect)
	})
}

// dumpSQLite writes each table with its columns, constraints, indexes and rows. PRAGMAs do not
// show every clause; the others are taken from the statement that created the table.
func dumpSQLite(t *testing.T, db *sql.DB) []byte {
	t.Helper()
	var out bytes.Buffer
	for _, table := range lines(t, db, `SELECT name FROM sqlite_master WHERE type IN ('table', 'view')
		AND name NOT LIKE 'river%' AND name NOT LIKE 'goose%' AND name NOT LIKE 'sqlite%' ORDER BY name`) {
		fmt.Fprintf(&out, "\nTABLE %s\n", table)
		const parts = `
			SELECT 'options: without rowid ' || wr || ', strict ' || strict FROM pragma_table_list WHERE name = $1
			UNION ALL SELECT 'column ' || name || ' ' || type || iif("notnull", ' NOT NULL', '')
				|| coalesce(' DEFAULT ' || dflt_value, '') || iif(pk, ' PRIMARY KEY ' || pk, '')
				|| iif(hidden, ' hidden', '') FROM pragma_table_xinfo($1)
			UNION ALL SELECT 'foreign key (' || group_concat("from", ', ') || ') REFERENCES ' || "table"
				|| ' (' || group_concat("to", ', ') || ') ON UPDATE ' || on_update || ' ON DELETE ' || on_delete
				FROM (SELECT * FROM pragma_foreign_key_list($1) ORDER BY id, seq) GROUP BY id
			UNION ALL SELECT 'key ' || origin || ' ('
				|| (SELECT group_concat(name, ', ') FROM pragma_index_info(l.name)) || ')'
				FROM pragma_index_list($1) l WHERE origin <> 'c'
			ORDER BY 1`
		for _, line := range lines(t, db, parts, table) {
			fmt.Fprintf(&out, "  %s\n", line)
		}
		statement := lines(t, db, `SELECT sql FROM sqlite_master
			WHERE type IN ('table', 'view') AND name = $1`, table)[0]
		for _, clause := range clauses.FindAllString(plain(statement), -1) {
			fmt.Fprintf(&out, "  clause %s\n", strings.TrimSuffix(strings.TrimSuffix(clause, ","), " )"))
		}
		for _, line := range lines(t, db, `SELECT sql FROM sqlite_master
			WHERE type NOT IN ('table', 'view') AND tbl_name = $1 AND sql IS NOT NULL ORDER BY name`, table) {
			fmt.Fprintf(&out, "  %s\n", plain(line))
		}
		dumpRows(t, db, &out, table)
	}
	return append(bytes.TrimSpace(out.Bytes()), '\n')
}

var (
	clauses  = regexp.MustCompile(`CHECK \(.*?\)(?:,| \)$)|COLLATE \w+|AUTOINCREMENT|GENERATED.*|DEFERRABLE.*`)
	comments = regexp.MustCompile(`--[^\n]*`)
	spaces   = regexp.MustCompile(`\s+`)
)

// plain returns a statement without comments and line breaks.
func plain(statement string) string {
	return strings.TrimSpace(spaces.ReplaceAllString(comments.ReplaceAllString(statement, ""), " "))
}

// ofSchema selects the relations of pg_class that are ours.
const ofSchema = `c.relnamespace = 'public'::regnamespace AND c.relname NOT LIKE 'river%'
	AND c.relname NOT LIKE 'goose%'`

func dumpPostgres(t *testing.T, db *sql.DB) []byte {
	t.Helper()
	var out bytes.Buffer
	for _, table := range lines(t, db, `SELECT relname FROM pg_class c
		WHERE relkind NOT IN ('i', 'S', 't', 'c') AND `+ofSchema+` ORDER BY relname COLLATE "C"`) {
		fmt.Fprintf(&out, "\nTABLE %s\n", table)
		const parts = `WITH c AS (SELECT * FROM pg_class WHERE oid = to_regclass(quote_ident($1)))
			SELECT line COLLATE "C" FROM (
				SELECT 'options: kind ' || relkind::text || ', persistence ' || relpersistence::text
					|| coalesce(', ' || reloptions::text, '') AS line FROM c
				UNION ALL SELECT 'column ' || attname || ' ' || format_type(atttypid, atttypmod)
					|| coalesce((SELECT ' COLLATE ' || collname FROM pg_collation WHERE oid = attcollation), '')
					|| CASE WHEN attnotnull THEN ' NOT NULL' ELSE '' END
					|| coalesce(' DEFAULT ' || pg_get_expr(adbin, adrelid), '')
					|| CASE WHEN attidentity <> '' THEN ' IDENTITY ' || attidentity::text ELSE '' END
					|| CASE WHEN attgenerated <> '' THEN ' GENERATED ' || attgenerated::text ELSE '' END
					|| coalesce(' ' || attoptions::text, '')
					|| coalesce(' -- ' || col_description(a.attrelid, attnum), '')
					FROM pg_attribute a JOIN c ON attrelid = c.oid
					LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
					WHERE attnum > 0 AND NOT attisdropped
				UNION ALL SELECT 'constraint ' || conname || ' ' || pg_get_constraintdef(o.oid)
					FROM pg_constraint o JOIN c ON conrelid = c.oid WHERE contype <> 'n'
				UNION ALL SELECT pg_get_indexdef(indexrelid) FROM pg_index JOIN c ON indrelid = c.oid
				UNION ALL SELECT pg_get_triggerdef(g.oid) FROM pg_trigger g JOIN c ON tgrelid = c.oid
					WHERE NOT tgisinternal
				UNION ALL SELECT 'comment ' || description FROM pg_description JOIN c ON objoid = c.oid
					WHERE objsubid = 0
			) AS l ORDER BY 1`
		for _, line := range lines(t, db, parts, table) {
			fmt.Fprintf(&out, "  %s\n", line)
		}
		dumpRows(t, db, &out, table)
	}
	dumpOthers(t, db, &out)
	return append(bytes.TrimSpace(out.Bytes()), '\n')
}

// dumpOthers writes what belongs to no table of PostgreSQL.
func dumpOthers(t *testing.T, db *sql.DB, out *bytes.Buffer) {
	t.Helper()
	for _, line := range lines(t, db, `SELECT line COLLATE "C" FROM (
			SELECT 'SEQUENCE ' || relname || ' ' || format_type(seqtypid, NULL) || ' start ' || seqstart
				|| ' increment ' || seqincrement || ' cycle ' || seqcycle || ' cache ' || seqcache
				|| coalesce(' owned by ' || (SELECT refobjid::regclass || ' ' || refobjsubid FROM pg_depend
					WHERE objid = c.oid AND deptype IN ('a', 'i')), '') AS line
				FROM pg_class c JOIN pg_sequence ON seqrelid = c.oid WHERE `+ofSchema+`
			UNION ALL SELECT pg_get_functiondef(oid) FROM pg_proc
				WHERE pronamespace = 'public'::regnamespace AND proname NOT LIKE 'river%'
			UNION ALL SELECT 'TYPE ' || typname FROM pg_type WHERE typtype IN ('e', 'd', 'r')
				AND typnamespace = 'public'::regnamespace AND typname NOT LIKE 'river%'
			UNION ALL SELECT 'EXTENSION ' || extname FROM pg_extension
		) AS l ORDER BY 1`) {
		fmt.Fprintf(out, "\n%s\n", strings.TrimSpace(line))
	}
}

// dumpRows writes the rows that the migrations insert.
func dumpRows(t *testing.T, db *sql.DB, out *bytes.Buffer, table string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), `SELECT * FROM "`+table+`"`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for rows.Next() {
		values, targets := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			targets[i] = &values[i]
		}
		if err := rows.Scan(targets...); err != nil {
			t.Fatal(err)
		}
		var fields []string
		for i, value := range values {
			if names[i] == "digest" { // of the statements, of which only the outcome matters here
				value = "…"
			}
			fields = append(fields, fmt.Sprintf("%s=%v", names[i], value))
		}
		slices.Sort(fields)
		found = append(found, "  row "+strings.Join(fields, " ")+"\n")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	out.WriteString(strings.Join(found, ""))
}

// lines returns a query's only column.
func lines(t *testing.T, db *sql.DB, query string, values ...any) (list []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query, values...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		list = append(list, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}
