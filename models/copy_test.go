package models_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"postern/models"
	"postern/testkit/state"
)

// filled returns the path of a SQLite database with three rows in every table. The third
// row is NULL where it may be. Texts that refer to other rows and their ids are equal.
func filled(t *testing.T, kinds map[string]map[string]string) string {
	t.Helper()
	path := state.SQLite(t)
	db, err := sql.Open("sqlite", "file:"+path) // without foreign keys: rows come in any order
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for table, columns := range kinds {
		for row := range 3 {
			var names, places []string
			var values []any
			for column, kind := range columns {
				names = append(names, `"`+column+`"`)
				places = append(places, "?")
				value := sample(kind, row)
				if table == "tenants" && column == "team_id" { // a tenant belongs to a project or to a team
					value = map[int]any{2: "ü2"}[row]
				}
				values = append(values, value)
			}
			statement := fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", table, strings.Join(names, ", "),
				strings.Join(places, ", "))
			if _, err := db.ExecContext(t.Context(), statement, values...); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
	}
	const job = `INSERT INTO river_job (args, attempt, attempted_by, errors, kind, max_attempts, metadata, state, tags,
			unique_key, unique_states, finalized_at)
		VALUES (?, 1, ?, ?, 'export', 3, '{"a": 1}', ?, '["x"]', ?, ?, ?)`
	for state, ended := range map[string]any{"running": nil, "available": nil, "completed": time.Now().UTC()} {
		_, err := db.ExecContext(t.Context(), job, `{"id": "exp_1"}`, `["wrk_1"]`, `[{"error": "x"}]`, state,
			[]byte(state), 0b11110101, ended)
		if err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// sample is a value that is different in every row, or NULL in the third.
func sample(kind string, row int) any {
	kind, nullable := strings.CutSuffix(kind, "?")
	if nullable && row == 2 {
		return nil
	}
	switch kind {
	case "text":
		return fmt.Sprintf("ü%d", row)
	case "jsonb":
		return fmt.Sprintf(`{"z": [1.5, "<&>"], "a": "ü%d"}`, row)
	case "boolean":
		return row%2 == 0
	case "timestamp with time zone":
		return time.Date(2026, 1, 2, 3, 4, 5, 6000+row*1000, time.UTC)
	case "bytea":
		return []byte{0, 0xff, byte(row)}
	}
	return row + 1
}

// kindsOf returns the types of the columns of all tables of a PostgreSQL database that are
// ours; those that may be NULL end in a question mark.
func kindsOf(t *testing.T, db *models.DB) map[string]map[string]string {
	t.Helper()
	kinds := map[string]map[string]string{}
	for table, lines := range grouped(t, db, `SELECT table_name,
			column_name || ':' || data_type || CASE WHEN is_nullable = 'YES' THEN '?' ELSE '' END
		FROM information_schema.columns WHERE table_schema = 'public'`) {
		kinds[table] = map[string]string{}
		for _, line := range lines {
			name, kind, _ := strings.Cut(line, ":")
			kinds[table][name] = kind
		}
	}
	return kinds
}

func openBoth(t *testing.T) (source, target *models.DB, path string) {
	t.Helper()
	address := state.Postgres(t)
	target, err := models.Open(t.Context(), address, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = target.Close() })
	path = filled(t, kindsOf(t, target))
	if source, err = models.Open(t.Context(), "", path); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = source.Close() })
	return source, target, path
}

func copyTo(t *testing.T, source, target *models.DB, check func(from, to *models.Tx) error) (models.Copied, error) {
	t.Helper()
	return source.CopyTo(t.Context(), target, func(string) {}, check)
}

func accept(_, _ *models.Tx) error { return nil }

func TestCopyTo_intoPostgres(t *testing.T) {
	t.Run("copies every table and the jobs that have not ended", func(t *testing.T) {
		source, target, _ := openBoth(t)
		done, err := copyTo(t, source, target, accept)
		if err != nil {
			t.Fatal(err)
		}
		if want := int64(len(rows)); done.Tables != want || done.Rows != 3*want || done.Jobs != 2 {
			t.Errorf("copied %+v, want 3 rows of each of %d tables, and 2 jobs", done, want)
		}
		for query, want := range map[string]string{
			`SELECT string_agg(state::text || ' ' || attempted_by::text || ' ' || tags::text || ' ' ||
				(errors[1]->>'error') || ' ' || unique_states::text || ' ' || (args->>'id'), ', ' ORDER BY state)
				FROM river_job`: "available {wrk_1} {x} x 11110101 exp_1, running {wrk_1} {x} x 11110101 exp_1",
			`SELECT string_agg(id::text, ' ' ORDER BY id) FROM revisions`:     "1 2 3",
			`SELECT string_agg(hash, ' ' ORDER BY team_id) FROM audit_chains`: "ü0 ü1 ü2",
			`SELECT string_agg(hash::text, ' ' ORDER BY id) FROM tokens`: `\x00ff00 \x00ff01 ` +
				`\x00ff02`,
		} {
			var got string
			if err := target.SQL().QueryRowContext(t.Context(), query).Scan(&got); err != nil || got != want {
				t.Errorf("%s: got %q, %v; want %q", query, got, err, want)
			}
		}
		err = target.Write(t.Context(), func(tx *models.Tx) error { return tx.AddRevision("ü0", "", models.Now()) })
		if err != nil {
			t.Fatal(err)
		}
		if last, err := target.Read(t.Context()).LastRevision(); err != nil || last.ID <= 3 {
			t.Errorf("the next revision has the id %d, %v; want one after those that were copied", last.ID, err)
		}
		_, err = copyTo(t, source, target, accept)
		if _, ok := errors.AsType[*models.NotEmptyError](err); !ok {
			t.Errorf("the second copy returned %v, want a NotEmptyError", err)
		}
	})
	t.Run("leaves nothing after an error", func(t *testing.T) {
		source, target, path := openBoth(t)
		refused := errors.New("the exports differ")
		_, err := copyTo(t, source, target, func(_, _ *models.Tx) error { return refused })
		if !errors.Is(err, refused) {
			t.Errorf("got %v, want the error of the check", err)
		}
		mustBeEmpty(t, target)

		change(t, target, `CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS
			$$ BEGIN NEW.email := 'other-' || NEW.email; RETURN NEW; END $$`)
		change(t, target, `CREATE TRIGGER spoil BEFORE INSERT ON accounts FOR EACH ROW EXECUTE FUNCTION spoil()`)
		_, err = copyTo(t, source, target, accept)
		if err == nil || !strings.Contains(err.Error(), "table accounts") {
			t.Errorf("got %v, want an error that names the table whose rows differ", err)
		}
		mustBeEmpty(t, target)
		change(t, target, `DROP TRIGGER spoil ON accounts`)

		spoil, err := sql.Open("sqlite", "file:"+path)
		if err != nil {
			t.Fatal(err)
		}
		defer spoil.Close()
		if _, err := spoil.Exec("UPDATE accounts SET name = 'a' || char(0) || 'b' WHERE id = 'ü1'"); err != nil {
			t.Fatal(err)
		}
		_, err = copyTo(t, source, target, accept)
		if err == nil || !strings.Contains(err.Error(), "column name") || !strings.Contains(err.Error(), "NUL") {
			t.Errorf("got %v, want an error that names the column and the NUL byte", err)
		}
		mustBeEmpty(t, target)
	})
}

func change(t *testing.T, db *models.DB, statement string) {
	t.Helper()
	if _, err := db.SQL().ExecContext(context.WithoutCancel(t.Context()), statement); err != nil {
		t.Fatal(err)
	}
}

func mustBeEmpty(t *testing.T, db *models.DB) {
	t.Helper()
	if err := db.CheckEmpty(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestCheckEmpty(t *testing.T) {
	_, target, _ := openBoth(t)
	mustBeEmpty(t, target)
	change(t, target, `INSERT INTO teams (id, name, created_at) VALUES ('team_1', 'T', now())`)
	err := target.CheckEmpty(t.Context())
	filled, ok := errors.AsType[*models.NotEmptyError](err)
	if !ok || !slices.Equal(filled.Tables, []string{"teams"}) || filled.Foreign {
		t.Errorf("got %v, want a NotEmptyError of teams", err)
	}
	change(t, target, `DROP SCHEMA public CASCADE`)
	change(t, target, `CREATE SCHEMA public`)
	mustBeEmpty(t, target)
	change(t, target, `CREATE TABLE orders (id bigint)`)
	err = target.CheckEmpty(t.Context())
	if filled, ok = errors.AsType[*models.NotEmptyError](err); !ok || !filled.Foreign {
		t.Errorf("got %v, want a NotEmptyError of foreign tables", err)
	}
}
