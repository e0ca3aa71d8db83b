package models

import (
	"time"

	"gorm.io/gorm/clause"

	"postern/platform/secrets"
)

// UpstreamHeader is a row of upstream_headers: a header that every call to an environment
// carries to the upstream.
type UpstreamHeader struct {
	EnvironmentID string `gorm:"primaryKey"`
	Name          string `gorm:"primaryKey"` // in the canonical form of net/http
	Value         secrets.Sealed
	CreatedAt     time.Time
	UpdatedAt     time.Time
}

// UpstreamHeadersOf lists the headers of an environment by name.
func (t *Tx) UpstreamHeadersOf(environmentID string) ([]UpstreamHeader, error) {
	var list []UpstreamHeader
	return list, t.db.Where("environment_id = ?", environmentID).Order("name").Find(&list).Error
}

// UpstreamHeadersOfProjects lists the headers of all environments of projects by name.
func (t *Tx) UpstreamHeadersOfProjects(projectIDs ...string) ([]UpstreamHeader, error) {
	var list []UpstreamHeader
	return list, t.db.
		Joins("JOIN environments ON environments.id = upstream_headers.environment_id").
		Joins("JOIN versions ON versions.id = environments.version_id").
		Where("versions.project_id IN ?", projectIDs).
		Order("upstream_headers.name").
		Find(&list).Error
}

// SetUpstreamHeader inserts a header, or replaces the value of the one with its name.
func (t *Tx) SetUpstreamHeader(h UpstreamHeader) error {
	return t.db.Clauses(clause.OnConflict{
		Columns:   []clause.Column{{Name: "environment_id"}, {Name: "name"}},
		DoUpdates: clause.AssignmentColumns([]string{"value", "updated_at"}),
	}).Create(&h).Error
}

// DeleteUpstreamHeader removes a header. It returns false if no header has that name.
func (t *Tx) DeleteUpstreamHeader(environmentID, name string) (bool, error) {
	res := t.db.Where("environment_id = ? AND name = ?", environmentID, name).Delete(&UpstreamHeader{})
	return res.RowsAffected == 1, res.Error
}
