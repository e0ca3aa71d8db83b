package models

import "time"

// BinProject moves a project that is not deleted to the trash. It returns false if another
// change came first.
func (t *Tx) BinProject(id string, now, purgeAt time.Time) (bool, error) {
	res := t.db.Model(&Project{}).Where("id = ? AND deleted_at IS NULL", id).
		UpdateColumns(map[string]any{"deleted_at": now, "purge_at": purgeAt})
	return res.RowsAffected == 1, res.Error
}

// UnbinProject takes a project out of the trash. It returns false if the project isn't in the trash, or is being
// purged.
func (t *Tx) UnbinProject(id string, now time.Time) (bool, error) {
	res := t.db.Model(&Project{}).Where("id = ? AND purge_at > ?", id, now).
		UpdateColumns(map[string]any{"deleted_at": nil, "purge_at": nil})
	return res.RowsAffected == 1, res.Error
}

// EraseProject ends a deleted project's time in the trash. It returns false if the project isn't in the trash.
func (t *Tx) EraseProject(id string, now time.Time) (bool, error) {
	res := t.db.Model(&Project{}).Where("id = ? AND deleted_at IS NOT NULL", id).UpdateColumn("purge_at", now)
	return res.RowsAffected == 1, res.Error
}

// LockProjectForPurge locks the row of a project whose time in the trash had ended at now until the transaction ends,
// and prevents that it is restored, even by a replica whose clock is behind. It returns false if the project was
// restored or doesn't exist.
func (t *Tx) LockProjectForPurge(id string, now time.Time) (bool, error) {
	res := t.db.Model(&Project{}).Where("id = ? AND purge_at <= ?", id, now).
		UpdateColumn("purge_at", time.Unix(0, 0).UTC())
	return res.RowsAffected == 1, res.Error
}

// ErasedProjects lists by ID at most limit projects after the given one whose time in the trash had ended by the given
// time.
func (t *Tx) ErasedProjects(by time.Time, after string, limit int) ([]Project, error) {
	var list []Project
	return list, t.db.Where("purge_at <= ? AND id > ?", by, after).Order("id").Limit(limit).Find(&list).Error
}

// CountBin counts the projects of a team that are in the trash at now.
func (t *Tx) CountBin(teamID string, now time.Time) (int64, error) {
	var n int64
	return n, t.db.Model(&Project{}).Where("team_id = ? AND purge_at > ?", teamID, now).Count(&n).Error
}

// ServedFromBin reports whether a tenant belongs to a deleted project.
func (t *Tx) ServedFromBin(tenantID string) (bool, error) {
	var n int64
	return n > 0, t.db.
		Model(&Project{}).
		Joins("JOIN tenants ON tenants.project_id = projects.id").
		Where("tenants.id = ? AND projects.deleted_at IS NOT NULL", tenantID).
		Count(&n).Error
}
