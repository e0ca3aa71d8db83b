package models

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"postern/migrations"
)

// keyColumn is a column of api_keys.
type keyColumn struct {
	name, kind string                      // kind is its type on PostgreSQL
	value      func(*APIKey) (any, error)  // nil for NULL
	array      func([]APIKey) (any, error) // the values of several keys
}

func columnOf[T any](name, kind string, value func(*APIKey) (T, error)) keyColumn {
	of := func(key *APIKey) (T, error) {
		out, err := value(key)
		if err != nil {
			return out, fmt.Errorf("models: %s of a key: %w", name, err)
		}
		return out, nil
	}
	one := func(key *APIKey) (any, error) {
		out, err := of(key)
		if v := reflect.ValueOf(out); (v.Kind() == reflect.Pointer || v.Kind() == reflect.Slice) && v.IsNil() {
			return nil, err
		}
		return out, err
	}
	return keyColumn{name, kind, one, func(rows []APIKey) (any, error) {
		out := make([]T, len(rows))
		for i := range rows {
			var err error
			if out[i], err = of(&rows[i]); err != nil {
				return nil, err
			}
		}
		return out, nil
	}}
}

func textColumn(name string, value func(*APIKey) string) keyColumn {
	return columnOf(name, "text", func(k *APIKey) (string, error) { return value(k), nil })
}

func optionalColumn(name string, value func(*APIKey) *string) keyColumn {
	return columnOf(name, "text", func(k *APIKey) (*string, error) { return value(k), nil })
}

func bytesColumn(name string, value func(*APIKey) []byte) keyColumn {
	return columnOf(name, "bytea", func(k *APIKey) ([]byte, error) { return value(k), nil })
}

func timeColumn(name string, value func(*APIKey) *time.Time) keyColumn {
	return columnOf(name, "timestamptz", func(k *APIKey) (*time.Time, error) { return value(k), nil })
}

// optionalDocument is the text of a document, nil for NULL.
func optionalDocument[T any](of *T) (*string, error) {
	if of == nil {
		return nil, nil
	}
	value, err := document(of)
	text, _ := value.(string)
	return &text, err
}

// keyColumns are all columns of api_keys.
var keyColumns = []keyColumn{
	textColumn("id", func(k *APIKey) string { return k.ID }),
	textColumn("team_id", func(k *APIKey) string { return k.TeamID }),
	textColumn("project_id", func(k *APIKey) string { return k.ProjectID }),
	textColumn("tenant_id", func(k *APIKey) string { return k.TenantID }),
	textColumn("key_type_id", func(k *APIKey) string { return k.KeyTypeID }),
	optionalColumn("product_id", func(k *APIKey) *string { return k.ProductID }),
	textColumn("owner", func(k *APIKey) string { return k.Owner }),
	textColumn("environment", func(k *APIKey) string { return k.Environment }),
	textColumn("description", func(k *APIKey) string { return k.Description }),
	textColumn("state", func(k *APIKey) string { return k.State }),
	columnOf("limits", "text", func(k *APIKey) (*string, error) { return optionalDocument(k.Limits) }),
	columnOf("allowed_cidrs", "text", func(k *APIKey) (string, error) {
		value, err := k.AllowedCIDRs.Value()
		text, _ := value.(string)
		return text, err
	}),
	bytesColumn("hash", func(k *APIKey) []byte { return k.Hash }),
	bytesColumn("old_hash", func(k *APIKey) []byte { return k.OldHash }),
	timeColumn("grace_ends_at", func(k *APIKey) *time.Time { return k.GraceEndsAt }),
	timeColumn("expires_at", func(k *APIKey) *time.Time { return k.ExpiresAt }),
	timeColumn("last_used_at", func(k *APIKey) *time.Time { return k.LastUsedAt }),
	textColumn("prefix", func(k *APIKey) string { return k.Prefix }),
	textColumn("last4", func(k *APIKey) string { return k.Last4 }),
	timeColumn("created_at", func(k *APIKey) *time.Time { return &k.CreatedAt }),
	timeColumn("updated_at", func(k *APIKey) *time.Time { return &k.UpdatedAt }),
	textColumn("metadata", func(k *APIKey) string { return string(k.Metadata) }),
	columnOf("consumer", "text", func(k *APIKey) (*string, error) { return optionalDocument(k.Consumer) }),
	optionalColumn("credential_id", func(k *APIKey) *string { return k.CredentialID }),
}

// keysOfStatement is how many keys one statement inserts on SQLite, whose driver looks every parameter up among all of
// the statement: the time of a statement grows with the square of its parameters.
const keysOfStatement = 16

// InsertKeys inserts keys, up to about two thousand. GORM's Create is slower: it reads every field by reflection, and
// turns an array into a list of parameters.
func (t *Tx) InsertKeys(rows []APIKey) error {
	if t.dialect == migrations.Postgres {
		return t.insertKeyArrays(rows)
	}
	for some := range slices.Chunk(rows, keysOfStatement) {
		if err := t.insertKeyValues(some); err != nil {
			return err
		}
	}
	return nil
}

// insertKeyValues inserts keys with a parameter for each value, except for columns that have none.
func (t *Tx) insertKeyValues(rows []APIKey) error {
	var names []string
	columns := make([][]any, 0, len(keyColumns))
	for _, column := range keyColumns {
		values, empty := make([]any, len(rows)), true
		for i := range rows {
			var err error
			if values[i], err = column.value(&rows[i]); err != nil {
				return err
			}
			empty = empty && values[i] == nil
		}
		if !empty {
			names, columns = append(names, column.name), append(columns, values)
		}
	}
	var parameters []any
	for i := range rows {
		for _, values := range columns {
			parameters = append(parameters, values[i])
		}
	}
	row := "(?" + strings.Repeat(", ?", len(names)-1) + ")"
	return t.exec("INSERT INTO api_keys ("+strings.Join(names, ", ")+") VALUES "+row+
		strings.Repeat(", "+row, len(rows)-1), parameters)
}

// insertKeyArrays inserts keys on PostgreSQL, with an array for each column. A parameter for each value would take
// several times as long: the server and the driver plan and encode 24,000 of them for 1,000 keys.
func (t *Tx) insertKeyArrays(rows []APIKey) error {
	var names, arrays []string
	var parameters []any
	for i, column := range keyColumns {
		array, err := column.array(rows)
		if err != nil {
			return err
		}
		names = append(names, column.name)
		arrays = append(arrays, fmt.Sprintf("$%d::%s[]", i+1, column.kind))
		parameters = append(parameters, array)
	}
	return t.exec("INSERT INTO api_keys ("+strings.Join(names, ", ")+") SELECT * FROM unnest("+
		strings.Join(arrays, ", ")+")", parameters)
}

// exec runs a statement past GORM, whose errors it returns.
func (t *Tx) exec(statement string, parameters []any) error {
	_, err := t.db.Statement.ConnPool.ExecContext(t.db.Statement.Context, statement, parameters...)
	if translator, ok := t.db.Dialector.(gorm.ErrorTranslator); ok && err != nil {
		return translator.Translate(err)
	}
	return err
}
