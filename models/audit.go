package models

import "time"

// AuditEntry is a row of audit_entries. Actor, Object and Detail hold ids and
// names, never secrets.
type AuditEntry struct {
	ID         string `gorm:"primaryKey"`
	Actor      string
	Action     string
	Object     string
	TeamID     string
	Outcome    string            // done; what was refused is not recorded
	Detail     map[string]string `gorm:"serializer:json"`
	RemoteAddr string
	RequestID  string
	CreatedAt  time.Time
}

// AuditOf lists at most limit entries of a team, newest first.
func (t *Tx) AuditOf(teamID string, limit int) ([]AuditEntry, error) {
	var list []AuditEntry
	return list, t.db.Where("team_id = ?", teamID).Order("id DESC").Limit(limit).Find(&list).Error
}
