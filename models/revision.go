package models

import (
	"time"

	"gorm.io/gorm"

	"postern/migrations"
)

// KeyList are IDs of keys. nil is NULL.
type KeyList []string

// Revision is a row of revisions, the change feed that gateways follow. KeyID is set if only that key changed, KeyIDs
// if only those keys changed, and Relations if only those relations changed.
type Revision struct {
	ID        int64 `gorm:"primaryKey;autoIncrement"`
	ProjectID string
	KeyID     string
	KeyIDs    KeyList `gorm:"serializer:json"`
	Relations RelationChanges
	CreatedAt time.Time
}

// Same reports whether both are the same row. After a restore, another row can get the same ID, but it has another
// time.
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

// AddPersonRevisions adds a revision for every project for which a key of a tenant's user can be valid.
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

// AddRevision records in the change feed that a project, or only one of its keys, has changed. On PostgreSQL a trigger
// gives the row its id when the transaction commits, and notifies the replicas: revisions commit in the order of their
// ids.
func (t *Tx) AddRevision(projectID, keyID string, at time.Time) error {
	return t.db.Create(&Revision{ProjectID: projectID, KeyID: keyID, CreatedAt: at}).Error
}

// AddKeysRevision is AddRevision for keys that changed together.
func (t *Tx) AddKeysRevision(projectID string, keyIDs []string, at time.Time) error {
	return t.db.Create(&Revision{ProjectID: projectID, KeyIDs: keyIDs, CreatedAt: at}).Error
}

// RevisionsFrom lists at most limit revisions from the given ID on, in order.
func (t *Tx) RevisionsFrom(id int64, limit int) ([]Revision, error) {
	var list []Revision
	return list, t.db.Where("id >= ?", id).Order("id").Limit(limit).Find(&list).Error
}

// LastRevision returns the newest revision, or the zero Revision if there is none.
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

// RevisionOfProductKeys returns the newest revision after the given ID for a change of one of a product's keys, or the
// zero Revision if there is none.
func (t *Tx) RevisionOfProductKeys(productID string, after int64) (Revision, error) {
	keys := t.db.Model(&APIKey{}).Select("id").Where("product_id = ?", productID)
	homes := t.db.Model(&APIKey{}).Select("project_id").Where("product_id = ?", productID)
	return newestRevision(t.db.Where("id > ? AND (key_id IN (?) OR key_ids IS NOT NULL AND project_id IN (?))",
		after, keys, homes))
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

// revisionsKept is how many of the newest ids of revisions are always kept. On PostgreSQL every other one is used.
const revisionsKept = 1000

// newerRevision holds for a revision r if a newer one has the same meaning for what is exported: of its project, and if
// it is of a key of a product, of such a key too.
const newerRevision = `EXISTS (SELECT 1 FROM revisions AS n WHERE n.project_id = r.project_id AND n.id > r.id) AND (
	(SELECT product_id FROM api_keys WHERE id = r.key_id) IS NULL
	OR EXISTS (SELECT 1 FROM revisions AS n WHERE n.project_id = r.project_id AND n.id > r.id AND
		(SELECT product_id FROM api_keys WHERE id = n.key_id) = (SELECT product_id FROM api_keys WHERE id = r.key_id)))`

// PruneRevisions looks at limit revisions after an ID, and deletes those from before a time. It keeps the newest
// revision of each project and the newest ones overall, because a replica whose position no longer exists assumes that
// the database was restored. It returns the last ID that it looked at, and false if no later revision is old enough.
func (t *Tx) PruneRevisions(after int64, before time.Time, limit int) (last int64, more bool, err error) {
	newest, err := newestRevision(t.db)
	if err != nil {
		return after, false, err
	}
	var list []Revision
	err = t.db.
		Select("id", "created_at").
		Where("id > ? AND id <= ?", after, newest.ID-revisionsKept).
		Order("id").
		Limit(limit).
		Find(&list).Error
	if err != nil {
		return after, false, err
	}
	last = after
	for _, one := range list {
		if !one.CreatedAt.Before(before) {
			break
		}
		last = one.ID
	}
	if last == after {
		return after, false, nil
	}
	const old = "DELETE FROM revisions WHERE id IN (SELECT r.id FROM revisions AS r WHERE r.id > ? AND r.id <= ? AND " +
		newerRevision + ")"
	return last, last == list[len(list)-1].ID && len(list) == limit, t.db.Exec(old, after, last).Error
}
