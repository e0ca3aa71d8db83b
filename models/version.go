package models

import (
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"postern/migrations"
)

// LockProject locks a project's row until the transaction ends, so that its versions and
// environments change one transaction after the other. On SQLite every write transaction
// excludes all others anyway.
func (t *Tx) LockProject(id string) error {
	q := t.db
	if t.dialect == migrations.Postgres {
		q = q.Clauses(clause.Locking{Strength: clause.LockingStrengthUpdate})
	}
	return q.Select("id").Where("id = ?", id).Take(&Project{}).Error
}

// RenameVersion writes the version's name.
func (t *Tx) RenameVersion(v Version) error {
	return t.db.Model(&Version{}).Where("id = ?", v.ID).Select("Name", "UpdatedAt").UpdateColumns(&v).Error
}

// DeleteVersion deletes a version with its environments.
func (t *Tx) DeleteVersion(id string) error {
	if err := t.db.Where("version_id = ?", id).Delete(&Environment{}).Error; err != nil {
		return err
	}
	return t.db.Where("id = ?", id).Delete(&Version{}).Error
}

// DeleteEnvironment deletes an environment.
func (t *Tx) DeleteEnvironment(id string) error {
	return t.db.Where("id = ?", id).Delete(&Environment{}).Error
}

// CountStrandedKeys counts what StrandedKeys lists.
func (t *Tx) CountStrandedKeys(project Project, names, without []string) (n int64, err error) {
	return n, t.strandedKeys(project, names, without).Count(&n).Error
}

// StrandedKeys lists the keys that open the project, are limited to environments of the
// given names and are not revoked, and that open no environment of that name when the
// environments in without (ids) are left out. Keys of a product also open its other
// projects.
func (t *Tx) StrandedKeys(project Project, names, without []string) ([]APIKey, error) {
	var list []APIKey
	return list, t.strandedKeys(project, names, without).Order("id").Find(&list).Error
}

func (t *Tx) strandedKeys(project Project, names, without []string) *gorm.DB {
	opened := t.db.
		Table("environments AS e").
		Select("1").
		Joins("JOIN versions AS v ON v.id = e.version_id").
		Joins("JOIN projects AS p ON p.id = v.project_id").
		Where("e.name = api_keys.environment AND (p.id = api_keys.project_id OR p.product_id = api_keys.product_id)")
	if len(without) > 0 {
		opened = opened.Where("e.id NOT IN ?", without)
	}
	opens := t.db.Where("project_id = ?", project.ID)
	if project.ProductID != nil {
		opens = opens.Or("product_id = ?", *project.ProductID)
	}
	return t.db.
		Model(&APIKey{}).
		Where(opens).
		Where("environment IN ? AND state <> 'revoked'", names).
		Where("NOT EXISTS (?)", opened)
}

// LimitKeys limits keys to another environment, by its name.
func (t *Tx) LimitKeys(ids []string, environment string, at time.Time) error {
	for len(ids) > 0 {
		batch := ids[:min(len(ids), batchSize)]
		ids = ids[len(batch):]
		err := t.db.
			Model(&APIKey{}).
			Where("id IN ?", batch).
			UpdateColumns(map[string]any{"environment": environment, "updated_at": at}).Error
		if err != nil {
			return err
		}
	}
	return nil
}
