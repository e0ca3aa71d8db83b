package exports_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"postern/bundle"
	"postern/bundle/targets"
	"postern/core/snapshot"
	"postern/testkit/state"
)

// Every column of every table is carried by a field of the snapshot, which package bundle exports
// (TestFeatures_everyField there), is reported by items of a ledger, or stays for a reason that is stated here.
func TestColumns_fates(t *testing.T) {
	listed := columnFates(t)
	fields := snapshotFields()
	for _, at := range migratedColumns(t) {
		fate, ok := listed[at]
		delete(listed, at)
		switch {
		case !ok:
			t.Errorf("%s has no fate: name the field of the snapshot that carries it, the feature of the ledger "+
				"that tells of it, or the reason why it stays", at)
		case strings.HasPrefix(fate, "snapshot "):
			if !fields[strings.TrimPrefix(fate, "snapshot ")] {
				t.Errorf("%s: there is no %s", at, fate)
			}
		case strings.HasPrefix(fate, "ledger "):
			f, words, _ := strings.Cut(strings.TrimPrefix(fate, "ledger "), ": ")
			if !told(snapshot.Feature(f), words) {
				t.Errorf("%s: %s has no fate on each target whose note says %q", at, f, words)
			}
		case !strings.HasPrefix(fate, "stays: "):
			t.Errorf("%s: %q is not a fate", at, fate)
		}
	}
	for at := range listed {
		t.Errorf("%s is listed, and there is no such column", at)
	}
}

// columnFates reads the list of fates: lines "table: fate", followed by lines of columns.
func columnFates(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for table, fates := range columns {
		for fate, names := range fates {
			for _, name := range strings.Fields(names) {
				at := table + "." + name
				if _, twice := out[at]; twice {
					t.Errorf("%s is listed twice", at)
				}
				out[at] = expand(fate, name)
			}
		}
	}
	return out
}

// expand replaces * by the field whose name is that of the column.
func expand(fate, column string) string {
	if !strings.HasSuffix(fate, ".*") {
		return fate
	}
	field := ""
	for _, word := range strings.Split(column, "_") {
		switch word {
		case "id", "uri", "uris", "api", "url":
			word = strings.ReplaceAll(strings.ToUpper(word), "URIS", "URIs")
		default:
			word = strings.ToUpper(word[:1]) + word[1:]
		}
		field += word
	}
	return strings.TrimSuffix(fate, "*") + field
}

// migratedColumns lists table.column of the schema, without the tables of libraries.
func migratedColumns(t *testing.T) []string {
	t.Helper()
	rows, err := state.OpenSQLite(t).SQL().QueryContext(t.Context(), `SELECT m.name || '.' || p.name
		FROM sqlite_master m, pragma_table_info(m.name) p
		WHERE m.type = 'table' AND m.name NOT LIKE 'river_%' AND m.name NOT LIKE 'sqlite_%'
			AND m.name NOT IN ('goose_db_version', 'schema_compatibility')`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var at string
		if err := rows.Scan(&at); err != nil {
			t.Fatal(err)
		}
		out = append(out, at)
	}
	if err := rows.Err(); err != nil || len(out) < 400 {
		t.Fatalf("%d columns, %v", len(out), err)
	}
	return out
}

// told reports whether each target declares a fate of the feature whose note has the words.
func told(f snapshot.Feature, words string) bool {
	says := func(fate bundle.Fate) bool { return strings.Contains(fate.Note, words) }
	return slices.Contains(snapshot.Features(), f) &&
		!slices.ContainsFunc(targets.All(),
			func(t bundle.Target) bool { return !slices.ContainsFunc(t.Table[f], says) })
}

// snapshotFields returns the fields of all structs that a project, key or user is made of, as
// Type.Field.
func snapshotFields() map[string]bool {
	out, seen := map[string]bool{}, map[reflect.Type]bool{}
	var walk func(of reflect.Type)
	walk = func(of reflect.Type) {
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			walk(of.Elem())
		case reflect.Struct:
			if seen[of] || of == reflect.TypeFor[time.Time]() {
				return
			}
			seen[of] = true
			for i := range of.NumField() {
				out[of.Name()+"."+of.Field(i).Name] = true
				walk(of.Field(i).Type)
			}
		}
	}
	for _, of := range []any{snapshot.Project{}, snapshot.Key{}, snapshot.User{}} {
		walk(reflect.TypeOf(of))
	}
	return out
}
