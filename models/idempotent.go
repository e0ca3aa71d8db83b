package models

import (
	"time"

	"gorm.io/gorm/clause"
)

// IdempotentRequest is a row of idempotent_requests. Lookup, Fingerprint and Answer
// are derived from or sealed with secrets of the caller, and reveal nothing without
// them.
type IdempotentRequest struct {
	Lookup      []byte `gorm:"primaryKey"`
	Fingerprint []byte
	LeaseID     string // of the current or last attempt
	LeaseUntil  time.Time
	CarriedOut  bool   // an attempt has committed something
	Answer      []byte // sealed; empty while there is none
	ExpiresAt   time.Time
}

// BeginIdempotent inserts the row. It returns false if a row with its lookup exists.
func (t *Tx) BeginIdempotent(row IdempotentRequest) (bool, error) {
	res := t.db.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "lookup"}}, DoNothing: true}).Create(&row)
	return res.RowsAffected == 1, res.Error
}

// IdempotentByLookup finds a row.
func (t *Tx) IdempotentByLookup(lookup []byte) (IdempotentRequest, error) {
	var row IdempotentRequest
	return row, t.db.Where("lookup = ?", lookup).Take(&row).Error
}

// TakeOverIdempotent replaces a row whose last attempt was seen to have expired at now. It returns false if another
// attempt replaced it first, or if the last attempt continued after it had waited for the database.
func (t *Tx) TakeOverIdempotent(row, seen IdempotentRequest, now time.Time) (bool, error) {
	res := t.db.Model(
		&IdempotentRequest{},
	).Where(
		"lookup = ? AND lease_id = ? AND carried_out = ? AND (lease_until <= ? OR expires_at <= ?)",
		row.Lookup, seen.LeaseID, seen.CarriedOut, now, now,
	).UpdateColumns(
		map[string]any{
			"fingerprint": row.Fingerprint, "lease_id": row.LeaseID, "lease_until": row.LeaseUntil,
			"carried_out": row.CarriedOut, "answer": row.Answer, "expires_at": row.ExpiresAt},
	)
	return res.RowsAffected == 1, res.Error
}

// RenewIdempotent extends the lease of an attempt, if the attempt still holds it.
func (t *Tx) RenewIdempotent(lookup []byte, lease string, until time.Time) error {
	return t.db.
		Model(&IdempotentRequest{}).
		Where("lookup = ? AND lease_id = ?", lookup, lease).
		UpdateColumn("lease_until", until).Error
}

// MarkCarriedOut records that the attempt commits a change. It returns false if the attempt has lost its lease and must
// not commit.
func (t *Tx) MarkCarriedOut(lookup []byte, lease string) (bool, error) {
	res := t.db.
		Model(&IdempotentRequest{}).
		Where("lookup = ? AND lease_id = ?", lookup, lease).
		UpdateColumn("carried_out", true)
	return res.RowsAffected == 1, res.Error
}

// AnswerIdempotent stores the sealed answer of the attempt.
func (t *Tx) AnswerIdempotent(lookup []byte, lease string, answer []byte) error {
	return t.db.
		Model(&IdempotentRequest{}).
		Where("lookup = ? AND lease_id = ?", lookup, lease).
		UpdateColumn("answer", answer).Error
}

// AbandonIdempotent ends the lease of a failed attempt. It deletes the row if nothing was committed.
func (t *Tx) AbandonIdempotent(lookup []byte, lease string, now time.Time) error {
	mine := "lookup = ? AND lease_id = ?"
	if err := t.db.Where(mine+" AND NOT carried_out", lookup, lease).Delete(&IdempotentRequest{}).Error; err != nil {
		return err
	}
	return t.db.Model(&IdempotentRequest{}).Where(mine, lookup, lease).UpdateColumn("lease_until", now).Error
}

// ReplaceIdempotent inserts the row, and replaces any other row with its lookup.
func (t *Tx) ReplaceIdempotent(row IdempotentRequest) error {
	return t.db.Clauses(clause.OnConflict{
		Columns:   []clause.Column{{Name: "lookup"}},
		UpdateAll: true,
	}).Create(&row).Error
}

// TakeIdempotent deletes a row and returns it. It returns ErrNotFound if there is none, or if a concurrent caller took
// it.
func (t *Tx) TakeIdempotent(lookup []byte) (IdempotentRequest, error) {
	row, err := t.IdempotentByLookup(lookup)
	if err != nil {
		return row, err
	}
	res := t.db.Where("lookup = ? AND lease_id = ?", lookup, row.LeaseID).Delete(&IdempotentRequest{})
	if res.Error == nil && res.RowsAffected == 0 {
		return IdempotentRequest{}, ErrNotFound
	}
	return row, res.Error
}

// DeleteExpiredIdempotent removes answers that can no longer be replayed, and imports that can no longer be repeated.
func (t *Tx) DeleteExpiredIdempotent(now time.Time) error {
	if err := t.db.Where("expires_at <= ?", now).Delete(&KeyImport{}).Error; err != nil {
		return err
	}
	return t.db.Where("expires_at <= ?", now).Delete(&IdempotentRequest{}).Error
}
