package models

import (
	"database/sql"
	"time"

	"gorm.io/gorm"
)

// CountKeysOfTeam counts the keys created in a project that aren't revoked and belong to a product or tenant of its
// team.
func (t *Tx) CountKeysOfTeam(projectID string) (int64, error) {
	own := t.db.Model(&Tenant{}).Select("id").Where("project_id = ?", projectID)
	var n int64
	return n, t.db.
		Model(&APIKey{}).
		Where("project_id = ? AND state <> 'revoked'", projectID).
		Where("product_id IS NOT NULL OR tenant_id NOT IN (?)", own).
		Count(&n).Error
}

// MoveProject gives a project to another team. Its revoked keys of the previous team's products and tenants become keys
// of the project's own tenant, since nothing in a project may refer to another team. Sealed values stay sealed with the
// data key of the previous team, which they name.
func (t *Tx) MoveProject(id, team string, now time.Time) error {
	own := t.db.Model(&Tenant{}).Select("id").Where("project_id = ?", id)
	err := t.db.
		Model(&APIKey{}).
		Where("project_id = ? AND state = 'revoked'", id).
		Where("product_id IS NOT NULL OR tenant_id NOT IN (?)", own).
		UpdateColumns(map[string]any{"product_id": nil, "tenant_id": own}).Error
	if err != nil {
		return err
	}
	if err := t.db.Model(&APIKey{}).Where("project_id = ?", id).UpdateColumn("team_id", team).Error; err != nil {
		return err
	}
	// The hashes of removed keys don't say which project the keys were in.
	moved, err := t.ProjectByID(id)
	if err != nil {
		return err
	}
	if err := t.moveRevokedHashes(moved.TeamID, team); err != nil {
		return err
	}
	return t.db.
		Model(&Project{}).
		Where("id = ?", id).
		UpdateColumns(map[string]any{"team_id": team, "updated_at": now}).Error
}

// FreeHashes prepares the keys of a team, or of one of its projects if project isn't "", for a move to another team. It
// removes revoked keys with a hash that a key of the other team has. It returns the number of remaining keys whose
// hash, now or before their rotation, is also one of the other team's, now or before a rotation.
func (t *Tx) FreeHashes(from, project, into string) (taken int64, err error) {
	moved := func() *gorm.DB {
		q := t.db.Where("team_id = ?", from)
		if project != "" {
			q = q.Where("project_id = ?", project)
		}
		return q
	}
	const theirs = "EXISTS (SELECT 1 FROM api_keys AS theirs WHERE theirs.team_id = @into AND theirs.hash = api_keys."
	name := sql.Named("into", into)
	err = moved().Where(theirs+"hash)", name).Where("state = 'revoked'").Delete(&APIKey{}).Error
	if err != nil {
		return 0, err
	}
	const (
		old  = "(SELECT old_hash FROM api_keys AS theirs WHERE theirs.team_id = @into AND theirs.old_hash IS NOT NULL)"
		gone = "EXISTS (SELECT 1 FROM revoked_hashes WHERE revoked_hashes.team_id = @into AND revoked_hashes.hash = " +
			"api_keys."
	)
	return taken, moved().Model(&APIKey{}).
		Where("state <> 'revoked'").
		Where(theirs+"hash) OR "+gone+"hash) OR hash IN "+old+" OR (old_hash IS NOT NULL AND ("+
			theirs+"old_hash) OR "+gone+"old_hash) OR old_hash IN "+old+"))", name).
		Count(&taken).Error
}
