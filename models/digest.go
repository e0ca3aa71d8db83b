package models

import (
	"bytes"
	"database/sql/driver"
	"fmt"
)

// Digest is a SHA-256, nil if absent. A plain []byte would not do: drivers may store a
// nil one as an empty value, and a unique index allows only one of those.
type Digest []byte

// Value implements driver.Valuer.
func (d Digest) Value() (driver.Value, error) {
	if d == nil {
		return nil, nil
	}
	return []byte(d), nil
}

// Scan implements sql.Scanner.
func (d *Digest) Scan(value any) error {
	switch v := value.(type) {
	case nil:
		*d = nil
	case []byte:
		*d = bytes.Clone(v) // the driver reuses its own
	default:
		return fmt.Errorf("models: a digest is stored as %T", value)
	}
	return nil
}
