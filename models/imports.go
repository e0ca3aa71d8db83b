package models

import "time"

// Existing returns those of the ids that rows of a table have. row is a pointer to a row of
// the table, whose primary key is id.
func (t *Tx) Existing(row any, ids []string) ([]string, error) {
	var out []string
	for len(ids) > 0 {
		batch := ids[:min(len(ids), batchSize)]
		ids = ids[len(batch):]
		var found []string
		if err := t.db.Model(row).Where("id IN ?", batch).Pluck("id", &found).Error; err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// KeyHashes returns those of the hashes that keys have.
func (t *Tx) KeyHashes(hashes [][]byte) ([][]byte, error) {
	var out [][]byte
	return out, t.db.Model(&APIKey{}).Where("hash IN ?", hashes).Pluck("hash", &out).Error
}

// HashesInGrace returns the hashes of the secrets that rotated keys still have at now.
func (t *Tx) HashesInGrace(now time.Time) ([]Digest, error) {
	var out []Digest
	return out, t.db.
		Model(&APIKey{}).
		Where("old_hash IS NOT NULL AND grace_ends_at > ?", now).
		Pluck("old_hash", &out).Error
}

// ObjectsOfOthers returns those of the ids that the audit log names as objects of other
// teams. It reads the whole log.
func (t *Tx) ObjectsOfOthers(teamID string, ids []string) ([]string, error) {
	var out []string
	return out, t.db.
		Model(&AuditEntry{}).
		Where("object IN ? AND team_id <> ?", ids, teamID).
		Distinct().
		Pluck("object", &out).Error
}
