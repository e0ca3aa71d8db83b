package models

import "time"

// AuditFilter chooses entries of one team; what is empty chooses all. Before is
// the place in the chain that a page ends above, 0 for the newest.
type AuditFilter struct {
	TeamID   string
	Project  string // id
	Actor    string
	Action   string
	Object   string
	Outcome  string
	From, To time.Time // To is not included
	Before   int64
}

// AuditEntries lists at most limit entries, newest first.
func (t *Tx) AuditEntries(f AuditFilter, limit int) ([]AuditEntry, error) {
	q := t.db.Where("team_id = ?", f.TeamID)
	for column, value := range map[string]string{"project_id": f.Project, "actor": f.Actor, "action": f.Action, "object": f.Object, "outcome": f.Outcome} {
		if value != "" {
			q = q.Where(column+" = ?", value)
		}
	}
	if !f.From.IsZero() {
		q = q.Where("created_at >= ?", f.From)
	}
	if !f.To.IsZero() {
		q = q.Where("created_at < ?", f.To)
	}
	if f.Before > 0 {
		q = q.Where("number < ?", f.Before)
	}
	var list []AuditEntry
	return list, q.Order("number DESC, id DESC").Limit(limit).Find(&list).Error
}

// AuditAfter lists at most limit entries of a chain in order, from the one after
// the entry given on.
func (t *Tx) AuditAfter(last AuditEntry, limit int) ([]AuditEntry, error) {
	var list []AuditEntry
	return list, t.db.Where("team_id = ? AND (number > ? OR (number = ? AND id > ?))", last.TeamID, last.Number, last.Number, last.ID).
		Order("number, id").Limit(limit).Find(&list).Error
}

// AuditUnchained lists at most limit entries of a team that have no place in its
// chain.
func (t *Tx) AuditUnchained(teamID string, limit int) ([]AuditEntry, error) {
	var list []AuditEntry
	return list, t.db.Where("team_id = ? AND number <= 0", teamID).Order("id").Limit(limit).Find(&list).Error
}

// AuditOf lists at most limit entries of a team, newest first.
func (t *Tx) AuditOf(teamID string, limit int) ([]AuditEntry, error) {
	return t.AuditEntries(AuditFilter{TeamID: teamID}, limit)
}
