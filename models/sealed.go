package models

import (
	"fmt"
	"strings"

	"postern/platform/secrets"
)

// SealedColumn is a column of sealed values.
type SealedColumn struct {
	Table, Column string

	// Gateways is the condition in SQL of the rows whose values gateways need, "" for none.
	Gateways string
	Key      []string // the columns of the primary key; of columns with Gateways only
	Project  string   // the project that a gateway reads again, in SQL; "" where it reads each row when it needs it
}

// everyRow is the Gateways of columns that gateways need as a whole.
const everyRow = "1 = 1"

// projectOfEnvironment is the project of a row that has an environment.
const projectOfEnvironment = "(SELECT versions.project_id FROM environments " +
	"JOIN versions ON versions.id = environments.version_id WHERE environments.id = environment_id)"

// SealedColumns returns all columns of sealed values. What gateways need and the gateway key
// opens is decided here, and by the Purpose of the place that a value is sealed for.
func SealedColumns() []SealedColumn {
	return []SealedColumn{
		{
			Table:    "upstream_headers",
			Column:   "value",
			Gateways: everyRow,
			Key:      []string{"environment_id", "name"},
			Project:  projectOfEnvironment,
		},
		{
			Table:    "upstream_certificates",
			Column:   "private_key",
			Gateways: everyRow,
			Key:      []string{"environment_id"},
			Project:  projectOfEnvironment,
		},
		{
			Table:    "call_signing_keys",
			Column:   "private_key",
			Gateways: everyRow,
			Key:      []string{"project_id", "id"},
			Project:  "project_id",
		},
		{Table: "certificates", Column: "private_key", Gateways: everyRow, Key: []string{"host"}},
		{Table: "versions", Column: "introspection_secret", Gateways: everyRow, Key: []string{"id"}},
		{
			Table:    "providers",
			Column:   "client_secret",
			Gateways: "token_client = '" + providerTokens + "'",
			Key:      []string{"id"},
		},
		{Table: "acme_accounts", Column: "private_key"},
		{Table: "export_keys", Column: "private_key"},
		{Table: "exports", Column: "file_key"},
		{Table: "login_attempts", Column: "stated"},
		{Table: "login_grants", Column: "successor"},
		{Table: "signing_keys", Column: "private_key"},
		{Table: "webhooks", Column: "old_secret"},
		{Table: "webhooks", Column: "secret"},
	}
}

// SealedValue is a value of a SealedColumn.
type SealedValue struct {
	Key     []string // the primary key
	Value   secrets.Sealed
	Purpose secrets.Purpose // that it ought to be sealed for
	Project string          // "" where no gateway keeps it
}

// Misplaced lists at most limit values of a column that are sealed for another purpose than
// theirs, in the order of the primary keys after the one given (nil for the start).
func (t *Tx) Misplaced(c SealedColumn, after []string, limit int) ([]SealedValue, error) {
	keys := strings.Join(c.Key, ", ")
	project := c.Project
	if project == "" {
		project = "''"
	}
	// A sealed value begins with a byte for the length of the data key's id, and the id.
	sealed := fmt.Sprintf("substr(%s, 2, 4) = ?", c.Column)
	where := fmt.Sprintf("%s IS NOT NULL AND (%s) <> (%s)", c.Column, c.Gateways, sealed)
	kind := []byte(secrets.ForGateways.Kind() + "_")
	values := []any{kind}
	if after != nil {
		where += fmt.Sprintf(" AND (%s) > (%s)", keys, strings.TrimSuffix(strings.Repeat("?, ", len(after)), ", "))
		for _, key := range after {
			values = append(values, key)
		}
	}
	query := fmt.Sprintf("SELECT %s, %s, coalesce(%s, ''), CASE WHEN %s THEN 1 ELSE 0 END FROM %s WHERE %s "+
		"ORDER BY %s LIMIT %d", keys, c.Column, project, c.Gateways, c.Table, where, keys, limit)
	rows, err := t.db.Raw(query, values...).Rows()
	if err != nil {
		return nil, fmt.Errorf("models: sealed values of %s: %w", c.Table, err)
	}
	defer rows.Close()
	var list []SealedValue
	for rows.Next() {
		one, forGateways := SealedValue{Key: make([]string, len(c.Key)), Purpose: secrets.ForControl}, 0
		into := make([]any, 0, len(c.Key)+3)
		for i := range one.Key {
			into = append(into, &one.Key[i])
		}
		if err := rows.Scan(append(into, &one.Value, &one.Project, &forGateways)...); err != nil {
			return nil, fmt.Errorf("models: sealed values of %s: %w", c.Table, err)
		}
		if forGateways == 1 {
			one.Purpose = secrets.ForGateways
		}
		list = append(list, one)
	}
	return list, rows.Err()
}

// ReplaceSealed replaces a value of a column. It returns false if it has changed since.
func (t *Tx) ReplaceSealed(c SealedColumn, old SealedValue, value secrets.Sealed) (bool, error) {
	q := t.db.Table(c.Table).Where(c.Column+" = ?", []byte(old.Value))
	for i, column := range c.Key {
		q = q.Where(column+" = ?", old.Key[i])
	}
	res := q.UpdateColumn(c.Column, []byte(value))
	return res.RowsAffected == 1, res.Error
}
