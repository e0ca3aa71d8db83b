package models

import "time"

// UpdateVersionTransforms writes the transforms of a version if the row still has the UpdatedAt that
// the caller saw. It returns false if another change came first.
func (t *Tx) UpdateVersionTransforms(v Version, seen time.Time) (bool, error) {
	res := t.db.Model(&Version{}).Where("id = ? AND updated_at = ?", v.ID, seen).
		Select("Transforms", "UpdatedAt").
		UpdateColumns(&v)
	return res.RowsAffected == 1, res.Error
}
