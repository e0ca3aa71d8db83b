package models

import (
	"database/sql/driver"
	"time"
)

// Transforms is a column: changes to a version's requests and responses.
type Transforms struct {
	Request       Changes     `json:"request,omitzero"` // of headers
	Query         Changes     `json:"query,omitzero"`
	RequestBody   Changes     `json:"request_body,omitzero"`
	Response      Changes     `json:"response,omitzero"` // of headers
	ResponseBody  Changes     `json:"response_body,omitzero"`
	ResponseTypes ChangeTypes `json:"response_types,omitzero"` // of the values of ResponseBody
}

// ChangeTypes are JSON types, each in the place of the entry whose value it is of. Without any, values
// are strings.
type ChangeTypes struct {
	Replace []string `json:"replace,omitempty"`
	Add     []string `json:"add,omitempty"`
	Append  []string `json:"append,omitempty"`
}

// IsZero reports whether all values are strings.
func (c ChangeTypes) IsZero() bool { return len(c.Replace)+len(c.Add)+len(c.Append) == 0 }

// Changes are entries of a name, or of a name and a value with a colon between them.
type Changes struct {
	Remove  []string `json:"remove,omitempty"`
	Rename  []string `json:"rename,omitempty"`
	Replace []string `json:"replace,omitempty"`
	Add     []string `json:"add,omitempty"`
	Append  []string `json:"append,omitempty"`
}

// IsZero reports whether nothing is changed.
func (c Changes) IsZero() bool {
	return len(c.Remove)+len(c.Rename)+len(c.Replace)+len(c.Add)+len(c.Append) == 0
}

// Value implements driver.Valuer.
func (t Transforms) Value() (driver.Value, error) { return document(t) }

// Scan implements sql.Scanner.
func (t *Transforms) Scan(value any) error {
	type plain Transforms
	return readDocument(value, (*plain)(t))
}

// UpdateVersionTransforms writes the transforms of a version if the row still has the UpdatedAt that
// the caller saw. It returns false if another change came first.
func (t *Tx) UpdateVersionTransforms(v Version, seen time.Time) (bool, error) {
	res := t.db.Model(&Version{}).Where("id = ? AND updated_at = ?", v.ID, seen).
		Select("Transforms", "UpdatedAt").
		UpdateColumns(&v)
	return res.RowsAffected == 1, res.Error
}
