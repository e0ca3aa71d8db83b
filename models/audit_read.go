package models

import (
	"time"

	"gorm.io/gorm"
)

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
	var list []AuditEntry
	return list, t.chosen(f).Where("team_id = ?", f.TeamID).Order("number DESC, id DESC").Limit(limit).Find(&list).Error
}

// AuditMerged names the teams merged into the filter's that have entries which
// the rest of it chooses. Before is of one chain, and left out of account.
func (t *Tx) AuditMerged(f AuditFilter) ([]string, error) {
	f.Before = 0
	merged := t.db.Model(&Team{}).Select("id").Where("merged_into = ?", f.TeamID)
	var ids []string
	return ids, t.chosen(f).
		Model(&AuditEntry{}).
		Where("team_id IN (?)", merged).
		Distinct("team_id").
		Order("team_id DESC").
		Pluck("team_id", &ids).Error
}

// chosen is all of a filter but its team.
func (t *Tx) chosen(f AuditFilter) *gorm.DB {
	q := t.db
	for column, value := range map[string]string{
		"project_id": f.Project,
		"actor":      f.Actor,
		"action":     f.Action,
		"object":     f.Object,
	} {
		if value != "" {
			q = q.Where(column+" = ?", value)
		}
	}
	switch f.Outcome {
	case "":
	case OutcomeRefused:
		q = q.Where("outcome = 'refused'") // as in the index
	default:
		q = q.Where("outcome = ?", f.Outcome)
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
	return q
}

// AuditAfter lists at most limit entries of a chain in order, from the one after
// the entry given on.
func (t *Tx) AuditAfter(last AuditEntry, limit int) ([]AuditEntry, error) {
	var list []AuditEntry
	return list, t.db.Where(
		"team_id = ? AND (number > ? OR (number = ? AND id > ?))", last.TeamID, last.Number, last.Number,
		last.ID,
	).
		Order(
			"number, id",
		).Limit(
		limit,
	).Find(
		&list,
	).Error
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
