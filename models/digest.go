package models

import "database/sql/driver"

// Digest is a SHA-256 that may be absent, which nil says. A plain []byte will not
// do for that: the SQLite driver keeps a nil one as an empty value, of which a
// unique index allows one only.
type Digest []byte

// Value implements driver.Valuer.
func (d Digest) Value() (driver.Value, error) {
	if d == nil {
		return nil, nil
	}
	return []byte(d), nil
}
