package models

import (
	"time"

	"postern/migrations"
)

// Revision is a row of revisions, the change feed that gateways follow. KeyID
// is set when just that key changed.
type Revision struct {
	ID        int64 `gorm:"primaryKey;autoIncrement"`
	ProjectID string
	KeyID     string
	CreatedAt time.Time
}

// revisionLock is the PostgreSQL advisory lock that makes revisions commit in
// the order of their ids. Without it a reader that has seen id 8 would never
// look back for an id 7 that commits later.
const revisionLock = 7620817934

// AddTenantRevisions tells the change feed that something has changed for every
// project that serves a tenant. It comes last in a transaction, as AddRevision does.
func (t *Tx) AddTenantRevisions(tenant Tenant, at time.Time) error {
	served, err := t.ProjectsOfTenant(tenant)
	if err != nil {
		return err
	}
	for _, project := range served {
		if err := t.AddRevision(project, "", at); err != nil {
			return err
		}
	}
	return nil
}

// AddPersonRevisions tells the change feed for every project that a key of one of a
// tenant's people can open. It comes last in a transaction, as AddRevision does.
func (t *Tx) AddPersonRevisions(tenant Tenant, at time.Time) error {
	near, err := t.ProjectsNear(tenant)
	if err != nil {
		return err
	}
	for _, project := range near {
		if err := t.AddRevision(project, "", at); err != nil {
			return err
		}
	}
	return nil
}

// AddRevision tells the change feed that a project, or just one of its keys,
// has changed. Call it last in the transaction: other writers wait from here on.
func (t *Tx) AddRevision(projectID, keyID string, at time.Time) error {
	if t.dialect == migrations.Postgres {
		if err := t.db.Exec("SELECT pg_advisory_xact_lock(?)", revisionLock).Error; err != nil {
			return err
		}
	}
	if err := t.db.Create(&Revision{ProjectID: projectID, KeyID: keyID, CreatedAt: at}).Error; err != nil {
		return err
	}
	if t.dialect == migrations.Postgres {
		return t.db.Exec("SELECT pg_notify(?, '')", revisionChannel).Error // sent when the transaction commits
	}
	return nil
}

// RevisionsAfter lists at most limit revisions with a greater id, in order.
func (t *Tx) RevisionsAfter(id int64, limit int) ([]Revision, error) {
	var list []Revision
	return list, t.db.Where("id > ?", id).Order("id").Limit(limit).Find(&list).Error
}

// LastRevision is the newest id of all, 0 without any.
func (t *Tx) LastRevision() (int64, error) {
	var id *int64
	err := t.db.Model(&Revision{}).Select("max(id)").Scan(&id).Error
	if id == nil {
		return 0, err
	}
	return *id, err
}

// RevisionOf is a project's newest revision; the zero Revision when it has none.
func (t *Tx) RevisionOf(projectID string) (Revision, error) {
	var list []Revision
	err := t.db.Where("project_id = ?", projectID).Order("id DESC").Limit(1).Find(&list).Error
	if len(list) == 0 {
		return Revision{}, err
	}
	return list[0], err
}
