package models

import "time"

// UpdateProjectCORS writes the CORS of a project if the row still has the UpdatedAt that the
// caller saw. It returns false if another change came first.
func (t *Tx) UpdateProjectCORS(p Project, seen time.Time) (bool, error) {
	res := t.db.
		Model(&Project{}).
		Where("id = ? AND updated_at = ?", p.ID, seen).
		Select("CORS", "UpdatedAt").
		UpdateColumns(&p)
	return res.RowsAffected == 1, res.Error
}

// UpdateTenantCORS is UpdateProjectCORS for a tenant.
func (t *Tx) UpdateTenantCORS(one Tenant, seen time.Time) (bool, error) {
	res := t.db.
		Model(&Tenant{}).
		Where("id = ? AND updated_at = ?", one.ID, seen).
		Select("CORS", "UpdatedAt").
		UpdateColumns(&one)
	return res.RowsAffected == 1, res.Error
}
