package models

import "time"

// CountKeysOfTeam counts the keys created in a project that are not revoked and are of a
// product or of a tenant of its team.
func (t *Tx) CountKeysOfTeam(projectID string) (int64, error) {
	own := t.db.Model(&Tenant{}).Select("id").Where("project_id = ?", projectID)
	var n int64
	return n, t.db.
		Model(&APIKey{}).
		Where("project_id = ? AND state <> 'revoked'", projectID).
		Where("product_id IS NOT NULL OR tenant_id NOT IN (?)", own).
		Count(&n).Error
}

// MoveProject gives a project to another team. Its revoked keys that were of a product or of a tenant of the team
// before become keys of the project's own tenant, since nothing of a project may refer to another team. Sealed values
// stay sealed with the data key of the previous team, which they name.
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

// FreeHashes prepares the keys of a team, or of one of its projects if project isn't "", for another team: it removes
// the revoked ones with a hash that a key of that team has, and returns how many others have such a hash.
func (t *Tx) FreeHashes(from, project, into string) (taken int64, err error) {
	of := "team_id = ? AND EXISTS (SELECT 1 FROM api_keys AS theirs WHERE theirs.team_id = ? AND theirs.hash = " +
		"api_keys.hash)"
	args := []any{from, into}
	if project != "" {
		of, args = of+" AND project_id = ?", append(args, project)
	}
	if err := t.db.Where(of+" AND state = 'revoked'", args...).Delete(&APIKey{}).Error; err != nil {
		return 0, err
	}
	return taken, t.db.Model(&APIKey{}).Where(of, args...).Count(&taken).Error
}
