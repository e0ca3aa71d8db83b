package models

import (
	"slices"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"postern/core/contract"
	"postern/migrations"
)

// LockProject locks a project's row until the transaction ends, so that only one transaction at a time changes its
// versions and environments. On SQLite every write transaction excludes all others anyway.
func (t *Tx) LockProject(id string) error {
	q := t.db
	if t.dialect == migrations.Postgres {
		q = q.Clauses(clause.Locking{Strength: clause.LockingStrengthUpdate})
	}
	return q.Select("id").Where("id = ?", id).Take(&Project{}).Error
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

// CallersOf lists at most limit owners who called the environments since the hour, those
// with the most calls first, with the number of all owners and of all calls.
func (t *Tx) CallersOf(
	projectID string, environments []string, since int64, limit int,
) (list []contract.Caller, owners, calls int64, err error) {
	where := func() *gorm.DB {
		return t.db.
			Model(&UsageHour{}).
			Where("project_id = ? AND hour >= ? AND environment_id IN ?", projectID, since, environments)
	}
	var all struct{ Owners, Calls int64 }
	// PostgreSQL's sum of BIGINT is NUMERIC.
	const sum = "CAST(coalesce(sum(calls), 0) AS BIGINT) AS calls"
	if err := where().Select("count(DISTINCT nullif(owner, '')) AS owners, " + sum).Scan(&all).Error; err != nil {
		return nil, 0, 0, err
	}
	err = where().Select("owner, " + sum).Group("owner").Order("sum(calls) DESC, owner").Limit(limit).Scan(&list).Error
	return list, all.Owners, all.Calls, err
}

// CountStrandedKeys counts what StrandedKeys lists, up to MaxTotal+1.
func (t *Tx) CountStrandedKeys(project Project, names, without []string) (int64, error) {
	q, err := t.strandedKeys(project, names, without)
	if err != nil || q == nil {
		return 0, err
	}
	return countSome(q)
}

// StrandedKeys lists the keys of the project that are limited to environments of the given names, aren't revoked, and
// are valid for no environment of that name without the environments in without (IDs). Keys of a product are also valid
// for its other projects.
func (t *Tx) StrandedKeys(project Project, names, without []string) ([]APIKey, error) {
	q, err := t.strandedKeys(project, names, without)
	if err != nil || q == nil {
		return nil, err
	}
	var list []APIKey
	return list, q.Order("id").Find(&list).Error
}

// strandedKeys returns nil if no key can be stranded: the project keeps environments of all the names.
func (t *Tx) strandedKeys(project Project, names, without []string) (*gorm.DB, error) {
	environments, err := t.EnvironmentsOf(project.ID)
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return slices.ContainsFunc(environments, func(e Environment) bool {
			return e.Name == name && !slices.Contains(without, e.ID)
		})
	})
	if len(names) == 0 {
		return nil, nil
	}
	opened := t.db.
		Table("environments AS e").
		Select("1").
		Joins("JOIN versions AS v ON v.id = e.version_id").
		Joins("JOIN projects AS p ON p.id = v.project_id").
		Where("e.name = api_keys.environment AND (p.id = api_keys.project_id OR p.product_id = api_keys.product_id)")
	if len(without) > 0 {
		opened = opened.Where("e.id NOT IN ?", without)
	}
	valid := t.db.Where("project_id = ?", project.ID)
	if project.ProductID != nil {
		valid = valid.Or("product_id = ?", *project.ProductID)
	}
	return t.db.
		Model(&APIKey{}).
		Where(valid).
		Where("environment IN ? AND state <> 'revoked'", names).
		Where("(product_id IS NULL OR NOT EXISTS (?))", opened), nil // the project keeps none of the names
}

// PlacesOfEnvironment lists the environments of that name that keys of the project are valid for, as
// project/version/name: those of the project and of its product's other projects.
func (t *Tx) PlacesOfEnvironment(project Project, name string) ([]string, error) {
	valid := t.db.Where("p.id = ?", project.ID)
	if project.ProductID != nil {
		valid = valid.Or("p.product_id = ?", *project.ProductID)
	}
	var places []string
	return places, t.db.
		Table("environments AS e").
		Joins("JOIN versions AS v ON v.id = e.version_id").
		Joins("JOIN projects AS p ON p.id = v.project_id").
		Where("e.name = ?", name).
		Where(valid).
		Order("p.name, v.name").
		Pluck("p.name || '/' || v.name || '/' || e.name", &places).Error
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
