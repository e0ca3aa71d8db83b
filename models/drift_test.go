package models_test

import (
	"database/sql"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gorm.io/gorm/schema"

	"postern/migrations"
	"postern/models"
	"postern/testkit/state"
)

var rows = []any{
	&models.Account{}, &models.Team{}, &models.Membership{}, &models.Token{}, &models.Project{}, &models.Version{},
	&models.Environment{}, &models.KeyType{}, &models.Tenant{}, &models.APIKey{}, &models.Revision{}, &models.Export{}, &models.AuditEntry{},
	&models.UsageHour{},
}

type column struct {
	kind     string // text, number, bool, time or bytes
	nullable bool
}

// A model and its migrated table must name the same columns, of the same kind,
// that may be absent in both or in neither; and no table may be without a model.
func TestModelsFitTheMigratedSchema(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		tables := migratedTables(t, db)
		for _, row := range rows {
			s, err := schema.Parse(row, &sync.Map{}, schema.NamingStrategy{})
			if err != nil {
				t.Fatal(err)
			}
			got, want := tables[s.Table], map[string]column{}
			delete(tables, s.Table)
			for _, field := range s.Fields {
				want[field.DBName] = column{kindOf(field), field.FieldType.Kind() == reflect.Pointer || isOptionalBytes(field)}
			}
			if !maps.Equal(got, want) {
				t.Errorf("table %s\n  migrated: %v\n  model:    %v", s.Table, got, want)
			}
		}
		for name := range tables {
			t.Errorf("table %s has no model", name)
		}
	})
}

// A []byte is its own nil, so these say which of them may be absent.
func isOptionalBytes(f *schema.Field) bool {
	return slices.Contains([]string{"claim_code_hash", "old_hash"}, f.DBName)
}

func kindOf(f *schema.Field) string {
	if f.Serializer != nil {
		return "text"
	}
	switch f.IndirectFieldType {
	case reflect.TypeFor[time.Time]():
		return "time"
	case reflect.TypeFor[[]byte]():
		return "bytes"
	}
	switch f.IndirectFieldType.Kind() {
	case reflect.Bool:
		return "bool"
	case reflect.Int64:
		return "number"
	}
	return "text"
}

func migratedTables(t *testing.T, db *models.DB) map[string]map[string]column {
	t.Helper()
	query := `SELECT m.name, p.name, lower(p.type), p."notnull" = 0 AND p.pk = 0 FROM sqlite_master m, pragma_table_info(m.name) p WHERE m.type = 'table'`
	if db.Dialect() == migrations.Postgres {
		query = `SELECT table_name, column_name, data_type, is_nullable = 'YES' FROM information_schema.columns WHERE table_schema = 'public'`
	}
	found, err := db.SQL().QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	tables := map[string]map[string]column{}
	for found.Next() {
		table, name, c := scanColumn(t, found)
		if table == "" {
			continue
		}
		if tables[table] == nil {
			tables[table] = map[string]column{}
		}
		tables[table][name] = c
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return tables
}

// scanColumn answers an empty table for a column of somebody else's table.
func scanColumn(t *testing.T, found *sql.Rows) (table, name string, c column) {
	t.Helper()
	var declared string
	if err := found.Scan(&table, &name, &declared, &c.nullable); err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(table, "river_") || strings.HasPrefix(table, "goose_") || strings.HasPrefix(table, "sqlite_") {
		return "", "", c
	}
	kinds := map[string]string{
		"text": "text", "jsonb": "text", "bigint": "number", "integer": "number", "boolean": "bool",
		"datetime": "time", "timestamp with time zone": "time", "blob": "bytes", "bytea": "bytes",
	}
	var known bool
	if c.kind, known = kinds[declared]; !known {
		t.Fatalf("column %s.%s has the type %q, which no model uses", table, name, declared)
	}
	return table, name, c
}
