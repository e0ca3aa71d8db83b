package models

import (
	"database/sql/driver"
	"time"

	"postern/core/contract"
)

// UpdateProjectAPI writes the audience and the scopes of a project's API if the row
// still has the UpdatedAt that the caller saw. It returns false if another change came
// first.
func (t *Tx) UpdateProjectAPI(p Project, seen time.Time) (bool, error) {
	res := t.db.
		Model(&Project{}).
		Where("id = ? AND updated_at = ?", p.ID, seen).
		Select("APIAudience", "APIScopes", "UpdatedAt").
		UpdateColumns(&p)
	return res.RowsAffected == 1, res.Error
}

// ProjectsServing lists the projects that serve a tenant, by id.
func (t *Tx) ProjectsServing(tenant Tenant) ([]Project, error) {
	ids, err := t.ProjectsOfTenant(tenant)
	if err != nil {
		return nil, err
	}
	var list []Project
	return list, t.db.Where("id IN ?", ids).Order("id").Find(&list).Error
}

// APIScopes is a column: the scopes of a project's API.
type APIScopes []contract.APIScope

// Value implements driver.Valuer.
func (s APIScopes) Value() (driver.Value, error) {
	if len(s) == 0 {
		return "[]", nil
	}
	return document([]contract.APIScope(s))
}

// Scan implements sql.Scanner.
func (s *APIScopes) Scan(value any) error { return readDocument(value, (*[]contract.APIScope)(s)) }

// Texts is a column: a list of texts.
type Texts []string

// Value implements driver.Valuer.
func (t Texts) Value() (driver.Value, error) {
	if len(t) == 0 {
		return "[]", nil
	}
	return document([]string(t))
}

// Scan implements sql.Scanner.
func (t *Texts) Scan(value any) error { return readDocument(value, (*[]string)(t)) }
