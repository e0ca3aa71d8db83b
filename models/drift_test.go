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

	"github.com/google/go-cmp/cmp"
	"gorm.io/gorm/schema"

	"postern/migrations"
	"postern/models"
	"postern/platform/secrets"
	"postern/testkit/state"
)

var rows = []any{
	&models.Account{}, &models.Team{}, &models.Membership{}, &models.Token{}, &models.Project{},
	&models.Version{}, &models.Environment{}, &models.KeyType{}, &models.Tenant{}, &models.APIKey{},
	&models.Revision{}, &models.KeyImport{}, &models.MoveIn{}, &models.MovedObject{},
	&models.Export{}, &models.ExportLedger{}, &models.ExportKey{}, &models.AuditEntry{},
	&models.UsageHour{},
	&models.UsageDay{},
	&models.UsageFold{},
	&models.UsageSpan{},
	&models.UsageLogEntry{},
	&models.Traffic{},
	&models.LinkedAccount{}, &models.Invitation{}, &models.IdempotentRequest{}, &models.AccessToken{},
	&models.DeviceGrant{}, &models.DataKey{}, &models.ImportPlan{}, &models.Webhook{}, &models.WebhookDelivery{},
	&models.AuditChain{}, &models.AppClient{}, &models.Provider{}, &models.SigningKey{},
	&models.LoginAttempt{}, &models.LoginSession{}, &models.LoginGrant{}, &models.LoginConsent{},
	&models.LogoutNotice{},
	&models.EndUser{}, &models.Identity{}, &models.SignupPolicy{}, &models.Approval{}, &models.UserGroup{},
	&models.GroupMember{}, &models.GroupOwner{}, &models.GroupGroup{}, &models.DeletedUser{}, &models.RevokedHash{},
	&models.Product{},
	&models.ProjectTenant{}, &models.LimitCount{}, &models.Worker{}, &models.Domain{},
	&models.UpstreamHeader{}, &models.Certificate{}, &models.ACMEAccount{}, &models.CallSigningKey{},
	&models.UpstreamCertificate{},
	&models.ShadowRefusal{}, &models.OpenAPIDocument{}, &models.Relation{}, &models.RelationMiss{},
	&models.InvalidRequest{}, &models.Gateway{}, &models.TargetReport{}, &models.TargetHealth{},
	&models.GroupMapping{}, &models.MappedMember{}, &models.UnstatedClaims{},
}

type column struct {
	kind     string // text, number, bool, time or bytes
	nullable bool
}

// A model and its migrated table must name the same columns, of the same kind,
// that may be absent in both or in neither; and no table may be without a model.
func TestModels_schema(t *testing.T) {
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
				want[field.DBName] = column{
					kindOf(field),
					field.FieldType.Kind() == reflect.Pointer || isNilable(field.FieldType),
				}
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

// isNilable tells types whose nil is kept as NULL.
func isNilable(t reflect.Type) bool {
	return t == reflect.TypeFor[models.Digest]() || t == reflect.TypeFor[secrets.Sealed]() ||
		t == reflect.TypeFor[models.KeyList]()
}

func kindOf(f *schema.Field) string {
	if f.Serializer != nil {
		return "text"
	}
	switch f.IndirectFieldType {
	case reflect.TypeFor[time.Time]():
		return "time"
	case reflect.TypeFor[[]byte](), reflect.TypeFor[models.Digest](), reflect.TypeFor[secrets.Sealed]():
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
	query := `SELECT m.name, p.name, lower(p.type), p."notnull" = 0 AND p.pk = 0
		FROM sqlite_master m, pragma_table_info(m.name) p WHERE m.type = 'table'`
	if db.Dialect() == migrations.Postgres {
		query = `SELECT table_name, column_name, data_type, is_nullable = 'YES'
			FROM information_schema.columns WHERE table_schema = 'public'`
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

// scanColumn returns an empty table for a column of a table that is not ours.
func scanColumn(t *testing.T, found *sql.Rows) (table, name string, c column) {
	t.Helper()
	var declared string
	if err := found.Scan(&table, &name, &declared, &c.nullable); err != nil {
		t.Fatal(err)
	}
	if !isOurs(table) {
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

// isOurs excludes what the job queue, the migrations and SQLite keep for themselves.
func isOurs(table string) bool {
	return table != "schema_compatibility" && !strings.HasPrefix(table, "river_") &&
		!strings.HasPrefix(table, "goose_") &&
		!strings.HasPrefix(table, "sqlite_")
}

// A page's cursor is an id of the page before: both databases must agree on which
// of two texts comes first, in whatever locale the server was set up.
func TestModels_sortOrderOfPostgreSQL(t *testing.T) {
	db, err := models.Open(t.Context(), state.Postgres(t), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	texts := 0
	const collated = `SELECT table_name, column_name || ' ' || coalesce(collation_name, 'of the database')
		FROM information_schema.columns
		WHERE table_schema = 'public' AND data_type IN ('text', 'character varying', 'character')`
	for table, collations := range grouped(t, db, collated) {
		for _, found := range collations {
			texts++
			if !strings.HasSuffix(found, " C") {
				t.Errorf("column %s.%s: declare it COLLATE \"C\"", table, found)
			}
		}
	}
	if texts == 0 {
		t.Error("found no text column")
	}
}

// indexes lists for each table of ours its primary key and its indexes, with their columns in order, as lines. Indexes
// of PostgreSQL whose name ends in _bytes are left out: they are in the order of bytes, which the indexes of SQLite
// have anyway.
var indexes = map[migrations.Dialect]string{
	migrations.SQLite: `
		SELECT name, 'primary key' || ' (' || columns || ')' FROM (
			SELECT name, group_concat(column) AS columns FROM (
				SELECT m.name, p.name AS column FROM sqlite_master m, pragma_table_info(m.name) p
				WHERE m.type = 'table' AND p.pk > 0 ORDER BY m.name, p.pk)
			GROUP BY name)
		UNION ALL
		SELECT "table", CASE WHEN "unique" THEN 'unique ' ELSE '' END || name || ' (' || columns || ')' FROM (
			SELECT "table", name, "unique", group_concat(column) AS columns FROM (
				SELECT m.name AS "table", l.name, l."unique", i.name AS column
				FROM sqlite_master m, pragma_index_list(m.name) l, pragma_index_info(l.name) i
				WHERE m.type = 'table' AND l.origin <> 'pk' ORDER BY m.name, l.name, i.seqno)
			GROUP BY "table", name, "unique")`,
	migrations.Postgres: `
		SELECT t.relname, CASE
				WHEN x.indisprimary THEN 'primary key'
				WHEN x.indisunique THEN 'unique ' || i.relname
				ELSE i.relname
			END || ' (' || string_agg(a.attname, ',' ORDER BY k.position) || ')'
		FROM pg_index x
		JOIN pg_class i ON i.oid = x.indexrelid
		JOIN pg_class t ON t.oid = x.indrelid
		JOIN pg_namespace n ON n.oid = t.relnamespace AND n.nspname = 'public'
		CROSS JOIN LATERAL unnest(x.indkey::int[]) WITH ORDINALITY AS k (number, position)
		JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.number
		WHERE i.relname NOT LIKE '%\_bytes'
		GROUP BY t.relname, i.relname, x.indisprimary, x.indisunique`,
}

// Both databases have to refuse the same duplicates.
func TestModels_indexesOfSQLiteAndPostgres(t *testing.T) {
	found := map[migrations.Dialect]map[string][]string{}
	state.Each(t, func(t *testing.T, db *models.DB) {
		found[db.Dialect()] = grouped(t, db, indexes[db.Dialect()])
	})
	sqlite, postgres := found[migrations.SQLite], found[migrations.Postgres]
	if len(sqlite) != len(rows) {
		t.Errorf("%d tables have a primary key or an index, of %d", len(sqlite), len(rows))
	}
	if diff := cmp.Diff(sqlite, postgres); diff != "" {
		t.Errorf("indexes (-SQLite +PostgreSQL):\n%s", diff)
	}
}

// grouped reads rows of two texts, the first of which is a table, and sorts those
// of each table of ours.
func grouped(t *testing.T, db *models.DB, query string) map[string][]string {
	t.Helper()
	found, err := db.SQL().QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	groups := map[string][]string{}
	for found.Next() {
		var table, line string
		if err := found.Scan(&table, &line); err != nil {
			t.Fatal(err)
		}
		if isOurs(table) {
			groups[table] = append(groups[table], line)
		}
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	for _, lines := range groups {
		slices.Sort(lines)
	}
	return groups
}

// Several teams without a claim code aren't duplicates of each other.
func TestModels_absentDigest(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		err := db.Write(t.Context(), func(tx *models.Tx) error {
			return tx.Insert(&models.Team{
				ID:        "team_1",
				CreatedAt: models.Now(),
			}, &models.Team{ID: "team_2", CreatedAt: models.Now()})
		})
		if err != nil {
			t.Error(err)
		}
	})
}
