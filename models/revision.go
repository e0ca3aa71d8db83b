package models

import (
	"time"

	"gorm.io/gorm"

	"postern/migrations"
)

// Revision is a row of revisions, the change feed that gateways follow. KeyID
// is set when just that key changed, Relations when just those relations did.
type Revision struct {
	ID        int64 `gorm:"primaryKey;autoIncrement"`
	ProjectID string
	KeyID     string
	Relations RelationChanges
	CreatedAt time.Time
}

// Same reports whether both are one row. Another row that got the same id, after a
// restore, has another time at least.
func (r Revision) Same(as Revision) bool {
	return r.ID == as.ID && r.ProjectID == as.ProjectID && r.KeyID == as.KeyID && r.CreatedAt.Equal(as.CreatedAt)
}

// AddTenantRevisions adds a revision for every project that serves a tenant.
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

// AddPersonRevisions adds a revision for every project that a key of a tenant's user
// can open.
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

// AddRevision records in the change feed that a project, or just one of its keys,
// has changed. On PostgreSQL a trigger gives the row its id when the transaction
// commits, and notifies the replicas: revisions commit in the order of their ids.
func (t *Tx) AddRevision(projectID, keyID string, at time.Time) error {
	return t.db.Create(&Revision{ProjectID: projectID, KeyID: keyID, CreatedAt: at}).Error
}

// RevisionsFrom lists at most limit revisions with the id or a greater one, in
// order.
func (t *Tx) RevisionsFrom(id int64, limit int) ([]Revision, error) {
	var list []Revision
	return list, t.db.Where("id >= ?", id).Order("id").Limit(limit).Find(&list).Error
}

// LastRevision returns the newest revision of all, the zero Revision if there is
// none.
func (t *Tx) LastRevision() (Revision, error) {
	return newestRevision(t.db)
}

// RevisionsOf returns the newest revisions of projects by their ids.
func (t *Tx) RevisionsOf(projectIDs []string) (map[string]Revision, error) {
	// A maximum of each alone is one step in the index, where groups would read every revision of the projects.
	const newest = "id IN (SELECT (SELECT max(r.id) FROM revisions AS r WHERE r.project_id = p.id) FROM projects " +
		"AS p WHERE p.id IN ?)"
	var list []Revision
	if err := t.db.Where(newest, projectIDs).Find(&list).Error; err != nil {
		return nil, err
	}
	out := make(map[string]Revision, len(list))
	for _, one := range list {
		out[one.ProjectID] = one
	}
	return out, nil
}

// ForeignKeys counts the foreign keys of the schema on PostgreSQL, and returns 0 on
// SQLite. They are the last that pg_restore creates, after all rows of all tables.
func (t *Tx) ForeignKeys() (count int64, err error) {
	if t.dialect == migrations.SQLite {
		return 0, nil
	}
	const query = "SELECT count(*) FROM pg_constraint WHERE contype = 'f' AND connamespace = " +
		"current_schema()::regnamespace"
	return count, t.db.Raw(query).Scan(&count).Error
}

// RevisionOfProductKeys is the newest revision after the given id that a change of
// one of a product's keys made; the zero Revision when there is none.
func (t *Tx) RevisionOfProductKeys(productID string, after int64) (Revision, error) {
	keys := t.db.Model(&APIKey{}).Select("id").Where("product_id = ?", productID)
	return newestRevision(t.db.Where("id > ? AND key_id IN (?)", after, keys))
}

// newestRevision returns the newest revision that q selects, the zero Revision if
// there is none.
func newestRevision(q *gorm.DB) (Revision, error) {
	var list []Revision
	if err := q.Order("id DESC").Limit(1).Find(&list).Error; err != nil || len(list) == 0 {
		return Revision{}, err
	}
	return list[0], nil
}
