package models

// AuditTrim is the action of the entries that record what retention removed from a chain.
const AuditTrim = "audit.trim"

// LockAuditChain returns the end of a team's chain, and keeps other transactions from the
// chain until this one ends.
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
