package models

import (
	"time"

	"gorm.io/gorm/clause"

	"postern/platform/secrets"
)

// UpstreamCertificate is a row of upstream_certificates: the certificate that the gateway
// presents to the upstream of an environment.
type UpstreamCertificate struct {
	EnvironmentID string `gorm:"primaryKey"`
	Chain         string // PEM, the leaf first
	PrivateKey    secrets.Sealed
	CreatedAt     time.Time
	UpdatedAt     time.Time
}

// UpstreamCertificateOf returns the certificate of an environment, and false if there is none.
func (t *Tx) UpstreamCertificateOf(environmentID string) (UpstreamCertificate, bool, error) {
	var list []UpstreamCertificate
	err := t.db.Where("environment_id = ?", environmentID).Find(&list).Error
	if err != nil || len(list) == 0 {
		return UpstreamCertificate{}, false, err
	}
	return list[0], true, nil
}

// UpstreamCertificatesOfProjects lists the certificates of all environments of projects.
func (t *Tx) UpstreamCertificatesOfProjects(projectIDs ...string) ([]UpstreamCertificate, error) {
	var list []UpstreamCertificate
	return list, t.db.
		Joins("JOIN environments ON environments.id = upstream_certificates.environment_id").
		Joins("JOIN versions ON versions.id = environments.version_id").
		Where("versions.project_id IN ?", projectIDs).
		Order("upstream_certificates.environment_id").
		Find(&list).Error
}

// SetUpstreamCertificate inserts the certificate of an environment, or replaces it.
func (t *Tx) SetUpstreamCertificate(c UpstreamCertificate) error {
	return t.db.Clauses(clause.OnConflict{
		Columns:   []clause.Column{{Name: "environment_id"}},
		DoUpdates: clause.AssignmentColumns([]string{"chain", "private_key", "updated_at"}),
	}).Create(&c).Error
}

// DeleteUpstreamCertificate removes the certificate of an environment. It returns false if
// there is none.
func (t *Tx) DeleteUpstreamCertificate(environmentID string) (bool, error) {
	res := t.db.Where("environment_id = ?", environmentID).Delete(&UpstreamCertificate{})
	return res.RowsAffected == 1, res.Error
}
