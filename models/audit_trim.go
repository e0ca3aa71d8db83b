package models

import "time"

// AuditTrim is the action of the entries that record what retention removed from a chain.
const AuditTrim = "audit.trim"

// LockAuditChain returns the end of a team's chain, and locks the chain until the transaction ends.
func (t *Tx) LockAuditChain(teamID string) (AuditChain, error) { return t.lockChain(teamID) }

// FirstAuditEntry returns the first entry of a team's chain, and false if there is none.
func (t *Tx) FirstAuditEntry(teamID string) (AuditEntry, bool, error) {
	return t.oneAuditEntry(teamID, "number > 0", "number")
}

// LastAuditTrim returns the newest entry of a team's chain that records a removal by
// retention, and false if there is none.
func (t *Tx) LastAuditTrim(teamID string) (AuditEntry, bool, error) {
	return t.oneAuditEntry(teamID, "number > 0 AND action = '"+AuditTrim+"'", "number DESC")
}

func (t *Tx) oneAuditEntry(teamID, where, order string) (AuditEntry, bool, error) {
	var list []AuditEntry
	err := t.db.Where("team_id = ?", teamID).Where(where).Order(order).Limit(1).Find(&list).Error
	if err != nil || len(list) == 0 {
		return AuditEntry{}, false, err
	}
	return list[0], true, nil
}

// DeleteAuditEntries removes the entries of a chain from the first to the last number, and
// returns how many there were.
func (t *Tx) DeleteAuditEntries(teamID string, first, last int64) (int64, error) {
	res := t.db.Where("team_id = ? AND number BETWEEN ? AND ?", teamID, first, last).Delete(&AuditEntry{})
	return res.RowsAffected, res.Error
}

// ChainsOfGoneTeams lists the chains of teams that no longer exist whose newest entry is from before a time and has the
// action (any if empty).
func (t *Tx) ChainsOfGoneTeams(action string, before time.Time) ([]AuditChain, error) {
	q := t.db.
		Table("audit_chains AS c").
		Joins("JOIN audit_entries AS e ON e.team_id = c.team_id AND e.number = c.number").
		Where("c.team_id <> '' AND e.created_at < ?", before).
		Where("NOT EXISTS (SELECT 1 FROM teams WHERE teams.id = c.team_id)")
	if action != "" {
		q = q.Where("e.action = ?", action)
	}
	var list []AuditChain
	return list, q.Select("c.*").Order("c.team_id").Find(&list).Error
}

// DeleteAuditChain removes a chain with its entries.
func (t *Tx) DeleteAuditChain(teamID string) error {
	if err := t.db.Where("team_id = ?", teamID).Delete(&AuditEntry{}).Error; err != nil {
		return err
	}
	return t.db.Where("team_id = ?", teamID).Delete(&AuditChain{}).Error
}
