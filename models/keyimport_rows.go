package models

import (
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"
)

// keyColumn is a column of api_keys with the values of several keys, as an array of PostgreSQL.
type keyColumn struct {
	name, kind string // kind is the type of an element
	values     func([]APIKey) (any, error)
}

func columnOf[T any](name, kind string, value func(*APIKey) (T, error)) keyColumn {
	return keyColumn{name, kind, func(rows []APIKey) (any, error) {
		out := make([]T, len(rows))
		for i := range rows {
			var err error
			if out[i], err = value(&rows[i]); err != nil {
				return nil, fmt.Errorf("models: %s of a key: %w", name, err)
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

// insertKeyArrays inserts keys on PostgreSQL, with an array for each column. A parameter for each value would take
// several times as long: the server and the driver plan and encode 24,000 of them for 1,000 keys.
func (t *Tx) insertKeyArrays(rows []APIKey) error {
	var names, arrays []string
	var values []any
	for i, column := range keyColumns {
		value, err := column.values(rows)
		if err != nil {
			return err
		}
		names = append(names, column.name)
		arrays = append(arrays, fmt.Sprintf("$%d::%s[]", i+1, column.kind))
		values = append(values, value)
	}
	// GORM would turn each array into a list of parameters.
	_, err := t.db.Statement.ConnPool.ExecContext(t.db.Statement.Context, "INSERT INTO api_keys ("+
		strings.Join(names, ", ")+") SELECT * FROM unnest("+strings.Join(arrays, ", ")+")", values...)
	if translator, ok := t.db.Dialector.(gorm.ErrorTranslator); ok && err != nil {
		return translator.Translate(err)
	}
	return err
}
