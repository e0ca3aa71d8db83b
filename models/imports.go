package models

import (
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"postern/migrations"
)

// Existing returns the given IDs that exist in a table. row is a pointer to a row of the table, whose primary key is
// id.
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

// KeyHashes returns the given hashes that keys of a team have.
func (t *Tx) KeyHashes(team string, hashes [][]byte) ([][]byte, error) {
	var out [][]byte
	return out, t.db.Model(&APIKey{}).Where("team_id = ? AND hash IN ?", team, hashes).Pluck("hash", &out).Error
}

// KeysByHash finds the keys of a team that have one of the hashes, now or before their last rotation.
func (t *Tx) KeysByHash(team string, hashes [][]byte) ([]APIKey, error) {
	var out []APIKey
	for batch := range slices.Chunk(hashes, batchSize) {
		for _, column := range []string{"hash", "old_hash"} {
			found, err := t.keysWith(team, column, batch)
			if err != nil {
				return nil, err
			}
			out = append(out, found...)
		}
	}
	return out, nil
}

// keysWith finds keys by a column of hashes. PostgreSQL keeps the plan of a statement, and one that was made while the
// table was empty or small reads all keys of the team: OFFSET has it look each hash up instead.
func (t *Tx) keysWith(team, column string, hashes [][]byte) (found []APIKey, err error) {
	if t.dialect != migrations.Postgres {
		return found, t.db.Where("team_id = ? AND "+column+" IN ?", team, hashes).Find(&found).Error
	}
	literals := make([]string, len(hashes))
	for i, hash := range hashes {
		literals[i] = `"\\x` + hex.EncodeToString(hash) + `"`
	}
	return found, t.db.Raw("SELECT found.* FROM unnest(CAST(CAST(? AS text) AS bytea[])) AS wanted (hash) CROSS JOIN "+
		"LATERAL (SELECT * FROM api_keys WHERE team_id = ? AND "+column+" = wanted.hash OFFSET 0) AS found",
		"{"+strings.Join(literals, ",")+"}", team).Find(&found).Error
}

// HashesInGrace returns the hashes of old secrets of a team's rotated keys that are still valid at now.
func (t *Tx) HashesInGrace(team string, now time.Time) ([]Digest, error) {
	var out []Digest
	return out, t.db.
		Model(&APIKey{}).
		Where("team_id = ? AND old_hash IS NOT NULL AND grace_ends_at > ?", team, now).
		Pluck("old_hash", &out).Error
}

// ObjectsOfOthers returns the given IDs that the audit log names as objects of other teams. It reads the whole log.
func (t *Tx) ObjectsOfOthers(teamID string, ids []string) ([]string, error) {
	var out []string
	return out, t.db.
		Model(&AuditEntry{}).
		Where("object IN ? AND team_id <> ?", ids, teamID).
		Distinct().
		Pluck("object", &out).Error
}
