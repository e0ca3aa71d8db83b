package models

import (
	"time"

	"gorm.io/gorm"
)

// AuditFilter selects entries of one team. Empty fields select all.
type AuditFilter struct {
	TeamID   string
	Project  string // id
	Actor    string
	Action   string
	Object   string
	Outcome  string
	From, To time.Time // To is not included
	Text     string    // that an entry contains, ignoring case
	Actors   []string  // whose entries match the text too
	Oldest   bool      // oldest entry first
}

// AuditEntries lists at most limit entries, newest first.
func (t *Tx) AuditEntries(f AuditFilter, limit int) ([]AuditEntry, error) {
	log, err := t.AuditLog(f)
	if err != nil {
		return nil, err
	}
	list, _, err := log.Entries(0, limit)
	return list, err
}

// AuditLog is the list of entries that a filter selects.
type AuditLog struct {
	window
	oldest bool
}

// AuditLog returns the log of a filter. It determines the index by which the entries are read.
func (t *Tx) AuditLog(f AuditFilter) (AuditLog, error) {
	w, err := t.auditWindow(f)
	return AuditLog{w, f.Oldest}, err
}

// Entries lists at most limit entries after a place in the chain, 0 for the first. If it stopped at SearchWindow before
// the end, it returns the last entry that it looked at.
func (l AuditLog) Entries(after int64, limit int) ([]AuditEntry, *AuditEntry, error) {
	w := l.window
	w.rows = w.rows.Session(&gorm.Session{})
	switch {
	case after > 0 && l.oldest:
		w.rows = w.rows.Where("number > ?", after)
	case after > 0:
		w.rows = w.rows.Where("number < ?", after)
	}
	return readWindow[AuditEntry](w, limit)
}

// Count counts the entries. It returns MaxTotal+1 if there are more than MaxTotal, and false if there may be more
// beyond SearchWindow.
func (l AuditLog) Count() (n int64, complete bool, err error) {
	return countWindow[AuditEntry](l.window)
}

// AuditMerged lists the teams that were merged into the filter's team and have entries about the filter's project or
// object.
func (t *Tx) AuditMerged(f AuditFilter) ([]string, error) {
	merged := t.db.Model(&Team{}).Select("id").Where("merged_into = ?", f.TeamID)
	q := t.db.Model(&AuditEntry{}).Where("team_id IN (?)", merged)
	if f.Project != "" {
		q = q.Where("project_id = ?", f.Project)
	}
	if f.Object != "" {
		q = q.Where("object = ?", f.Object)
	}
	var ids []string
	return ids, q.Distinct("team_id").Order("team_id DESC").Pluck("team_id", &ids).Error
}

// AuditAfter lists at most limit entries of a chain in order, after the given entry.
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
