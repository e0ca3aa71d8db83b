package models

import (
	"time"

	"postern/core/contract"
	"postern/platform/secrets"
)

// ImportPlan is a row of import_plans: another gateway's file, with the choices for its import.
type ImportPlan struct {
	ID        string `gorm:"primaryKey"`
	TeamID    string
	File      secrets.Sealed         // as movein.Files
	SetValues secrets.Sealed         // of placeholders, a JSON object; nil for none
	Choices   contract.ImportChoices `gorm:"serializer:json"`

	// Trusted has the settings with which the certificates of trusted targets are accepted, by the targets' addresses.
	Trusted map[string]contract.Upstream `gorm:"serializer:json"`

	ApplyingUntil *time.Time // nil unless it is applied
	CreatedAt     time.Time
	UpdatedAt     time.Time
	ExpiresAt     time.Time
}

// ImportPlanByID finds a plan.
func (t *Tx) ImportPlanByID(id string) (ImportPlan, error) {
	var one ImportPlan
	return one, t.db.Where("id = ?", id).Take(&one).Error
}

// ImportPlansOf lists a team's plans that haven't expired, newest first, without their files.
func (t *Tx) ImportPlansOf(teamID string, now time.Time) ([]ImportPlan, error) {
	var list []ImportPlan
	return list, t.db.
		Select("id", "team_id", "choices", "applying_until", "created_at", "updated_at", "expires_at").
		Where("team_id = ? AND expires_at > ?", teamID, now).
		Order("id DESC").
		Find(&list).Error
}

// LastMoveIns lists the last imports of other gateways' files into a team, newest first, without their results.
func (t *Tx) LastMoveIns(teamID string, limit int) ([]MoveIn, error) {
	var list []MoveIn
	return list, t.db.
		Select("id", "team_id", "gateway", "created_at").
		Where("team_id = ?", teamID).
		Order("id DESC").
		Limit(limit).
		Find(&list).Error
}

// CountImportPlans counts a team's plans.
func (t *Tx) CountImportPlans(teamID string) (int64, error) {
	var n int64
	return n, t.db.Model(&ImportPlan{}).Where("team_id = ?", teamID).Count(&n).Error
}

// UpdateImportPlan writes the choices of a plan if it still has the UpdatedAt that the caller saw. It returns false if
// another change came first.
func (t *Tx) UpdateImportPlan(one ImportPlan, seen time.Time) (bool, error) {
	res := t.db.Model(&ImportPlan{}).Where("id = ? AND updated_at = ?", one.ID, seen).
		Select("SetValues", "Choices", "Trusted", "ApplyingUntil", "UpdatedAt").
		UpdateColumns(&one)
	return res.RowsAffected == 1, res.Error
}

// ClaimImportPlan reserves a plan for the caller that applies it. It returns false if the plan has changed since the
// caller saw it, or if another caller has reserved it.
func (t *Tx) ClaimImportPlan(id string, seen, now time.Time, within time.Duration) (bool, error) {
	res := t.db.Model(&ImportPlan{}).
		Where("id = ? AND updated_at = ? AND (applying_until IS NULL OR applying_until <= ?)", id, seen, now).
		UpdateColumn("applying_until", now.Add(within))
	return res.RowsAffected == 1, res.Error
}

// KeepImportPlan extends the reservation of a plan.
func (t *Tx) KeepImportPlan(id string, until time.Time) error {
	return t.db.Model(&ImportPlan{}).
		Where("id = ? AND applying_until IS NOT NULL", id).
		UpdateColumn("applying_until", until).Error
}

// ReleaseImportPlan ends the reservation of a plan that couldn't be applied.
func (t *Tx) ReleaseImportPlan(id string) error {
	return t.db.Model(&ImportPlan{}).Where("id = ?", id).UpdateColumn("applying_until", nil).Error
}

// DeleteImportPlan removes a plan.
func (t *Tx) DeleteImportPlan(id string) error {
	return t.db.Where("id = ?", id).Delete(&ImportPlan{}).Error
}

// DeleteImportPlansBefore removes plans that have expired.
func (t *Tx) DeleteImportPlansBefore(now time.Time) error {
	return t.db.Where("expires_at <= ?", now).Delete(&ImportPlan{}).Error
}
