package models

import (
	"errors"
	"time"

	"gorm.io/gorm/clause"

	"postern/core/contract"
)

// KeyImport is a row of key_imports: the progress of a repeatable import.
type KeyImport struct {
	Lookup     []byte `gorm:"primaryKey"`
	Attempt    string // the current or last one
	LeaseUntil time.Time
	Batches    int64 // that were written
	Digest     []byte
	Result     contract.KeysImported `gorm:"serializer:json"`
	Done       bool
	ExpiresAt  time.Time
}

// BeginKeyImport inserts the row, or assigns the existing row with its lookup to the new attempt, unless another
// attempt holds it at the moment. It returns the resulting row; held is false if another attempt holds it.
func (t *Tx) BeginKeyImport(row KeyImport, now time.Time) (_ KeyImport, held bool, err error) {
	res := t.db.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "lookup"}}, DoNothing: true}).Create(&row)
	if res.Error != nil || res.RowsAffected == 1 {
		return row, true, res.Error
	}
	var seen KeyImport
	err = t.db.Where("lookup = ?", row.Lookup).Take(&seen).Error
	if errors.Is(err, ErrNotFound) {
		return row, false, nil // removed between the two statements
	}
	if err != nil {
		return row, false, err
	}
	was := seen.Attempt
	switch {
	case !seen.ExpiresAt.After(now):
		seen = row
	case seen.LeaseUntil.After(now):
		return seen, false, nil
	}
	seen.Attempt, seen.LeaseUntil = row.Attempt, row.LeaseUntil
	res = t.db.Model(&KeyImport{}).Where("lookup = ? AND attempt = ?", row.Lookup, was).Select("*").UpdateColumns(&seen)
	return seen, res.RowsAffected == 1, res.Error
}

// KeyImportByLookup finds the progress of an import.
func (t *Tx) KeyImportByLookup(lookup []byte) (KeyImport, error) {
	var row KeyImport
	return row, t.db.Where("lookup = ?", lookup).Take(&row).Error
}

// SaveKeyImport writes a row. It returns false if another attempt holds it.
func (t *Tx) SaveKeyImport(row KeyImport) (bool, error) {
	res := t.db.
		Model(&KeyImport{}).
		Where("lookup = ? AND attempt = ?", row.Lookup, row.Attempt).
		Select("*").
		UpdateColumns(&row)
	return res.RowsAffected == 1, res.Error
}
