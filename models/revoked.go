package models

import (
	"bytes"
	"errors"
	"slices"
	"time"

	"gorm.io/gorm/clause"
)

// RevokedHash is a row of revoked_hashes: the hash of a secret that no key has any more, because its key was rotated,
// was revoked and removed, or was frozen and removed with its project. Imports don't make such a secret valid again.
type RevokedHash struct {
	TeamID string `gorm:"primaryKey"`
	Hash   []byte `gorm:"primaryKey"`
}

// TableName implements schema.Tabler.
func (RevokedHash) TableName() string { return "revoked_hashes" }

// RemoveRevokedKeys removes at most limit keys that were revoked before a time, and returns their number. Their hashes
// stay: see RevokedHashes.
func (t *Tx) RemoveRevokedKeys(before time.Time, limit int) (int, error) {
	// The state is in the text: SQLite uses an index of some rows for no other.
	keys, err := t.removeRevoked("state = 'revoked' AND updated_at < ?", before, limit)
	if err != nil {
		return 0, err
	}
	now := Now()
	revisions := make([]Revision, 0, len(keys))
	for _, key := range keys {
		revisions = append(revisions, Revision{ProjectID: key.ProjectID, KeyID: key.ID, CreatedAt: now})
	}
	if len(revisions) == 0 {
		return 0, nil
	}
	return len(keys), t.db.Create(&revisions).Error
}

// RemoveStoppedKeysOf is RemoveRevokedKeys for the revoked and frozen keys of a deleted project.
func (t *Tx) RemoveStoppedKeysOf(projectID string, limit int) (int, error) {
	keys, err := t.removeRevoked("project_id = ? AND state IN ('revoked', 'frozen') AND state <> 'active'", projectID,
		limit)
	return len(keys), err
}

func (t *Tx) removeRevoked(which string, of any, limit int) ([]APIKey, error) {
	var keys []APIKey
	columns := []string{"id", "team_id", "project_id", "hash", "old_hash"}
	err := t.db.Select(columns).Where(which, of).Limit(limit).Find(&keys).Error
	if err != nil || len(keys) == 0 {
		return nil, err
	}
	var hashes []RevokedHash
	var ids []string
	for _, key := range keys {
		ids = append(ids, key.ID)
		hashes = append(hashes, RevokedHash{key.TeamID, key.Hash})
		if key.OldHash != nil {
			hashes = append(hashes, RevokedHash{key.TeamID, key.OldHash})
		}
	}
	if err := t.db.Clauses(clause.OnConflict{DoNothing: true}).Create(&hashes).Error; err != nil {
		return nil, err
	}
	return keys, t.db.Where("id IN ?", ids).Delete(&APIKey{}).Error
}

// KeepDroppedHashes keeps the hashes that a key loses in a change.
func (t *Tx) KeepDroppedHashes(before, after *APIKey) error {
	var dropped []RevokedHash
	for _, hash := range [][]byte{before.Hash, before.OldHash} {
		if hash != nil && !bytes.Equal(hash, after.Hash) && !bytes.Equal(hash, after.OldHash) {
			dropped = append(dropped, RevokedHash{after.TeamID, hash})
		}
	}
	if len(dropped) == 0 {
		return nil
	}
	return t.db.Clauses(clause.OnConflict{DoNothing: true}).Create(&dropped).Error
}

// RevokedHashes returns the given hashes that keys of a team had and no longer have.
func (t *Tx) RevokedHashes(team string, hashes [][]byte) ([][]byte, error) {
	var out [][]byte
	for batch := range slices.Chunk(hashes, batchSize) {
		var found [][]byte
		err := t.db.Model(&RevokedHash{}).Where("team_id = ? AND hash IN ?", team, batch).Pluck("hash", &found).Error
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// ScanRevokedHashes calls fn for each team with imported keys, or only for the project's team unless project is "". It
// calls fn once for each hash that the team's keys had and no longer have, or once with nil if there is none. Other
// teams don't matter, because their secrets are recognizable by the form of Postern's keys.
func (t *Tx) ScanRevokedHashes(projectID string, fn func(teamID string, hash []byte) error) (err error) {
	rows, err := t.db.Raw("SELECT importing.team_id, revoked_hashes.hash FROM (SELECT team_id FROM projects WHERE "+
		"imported_keys UNION SELECT team_id FROM products WHERE imported_keys) AS importing LEFT JOIN revoked_hashes "+
		"ON revoked_hashes.team_id = importing.team_id WHERE ? = '' OR importing.team_id = (SELECT team_id FROM "+
		"projects WHERE id = ?)", projectID, projectID).Rows()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var teamID string
		var hash []byte
		if err := rows.Scan(&teamID, &hash); err != nil {
			return err
		}
		if err := fn(teamID, hash); err != nil {
			return err
		}
	}
	return rows.Err()
}

// moveRevokedHashes adds the hashes that keys of a team had to those of another team.
func (t *Tx) moveRevokedHashes(from, into string) error {
	return t.db.Exec("INSERT INTO revoked_hashes (team_id, hash) SELECT ?, hash FROM revoked_hashes WHERE team_id = ? "+
		"ON CONFLICT DO NOTHING", into, from).Error
}
