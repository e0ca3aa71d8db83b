package models

import "time"

// AuditFilter chooses entries of one team; what is empty chooses all.
type AuditFilter struct {
	TeamID   string
	Project  string // id
	Actor    string
	Action   string
	Object   string
	Outcome  string
	From, To time.Time // To is not included
	Text     string    // that an entry contains, in any case
	Actors   []string  // whose entries contain the text too
	Oldest   bool      // the oldest entry comes first
	After    int64     // the place in the chain that a page begins after, 0 for the first
}

// AuditEntries lists at most limit entries, newest first.
func (t *Tx) AuditEntries(f AuditFilter, limit int) ([]AuditEntry, error) {
	list, _, err := t.SearchAudit(f, limit)
	return list, err
}

// SearchAudit lists at most limit entries, and returns the last one that it has looked at if there are more after
// SearchWindow.
func (t *Tx) SearchAudit(f AuditFilter, limit int) ([]AuditEntry, *AuditEntry, error) {
	w, err := t.auditWindow(f)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case f.After > 0 && f.Oldest:
		w.rows = w.rows.Where("number > ?", f.After)
	case f.After > 0:
		w.rows = w.rows.Where("number < ?", f.After)
	}
	return readWindow[AuditEntry](w, limit)
}

// CountAudit counts the entries, and returns MaxTotal+1 if there are more than MaxTotal. It returns false if there are
// more than SearchWindow to look at.
func (t *Tx) CountAudit(f AuditFilter) (n int64, complete bool, err error) {
	w, err := t.auditWindow(f)
	if err != nil {
		return 0, false, err
	}
	return countWindow(w)
}

// AuditMerged names the teams merged into the filter's that have entries about its project or its object.
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
