package models

import (
	"database/sql/driver"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"postern/migrations"
)

// Relation is a row of relations: a user of a tenant has a relation to an object of a project.
type Relation struct {
	ProjectID string `gorm:"primaryKey"`
	TenantID  string `gorm:"primaryKey"`
	Object    string `gorm:"primaryKey"`
	Relation  string `gorm:"primaryKey"`
	User      string `gorm:"primaryKey"`
	CreatedAt time.Time
}

// RelationChange is a relation that was added or removed.
type RelationChange struct {
	TenantID string `json:"t"`
	Object   string `json:"o"`
	Relation string `json:"r"`
	User     string `json:"u"`
	Removed  bool   `json:"x,omitempty"`
}

// RelationChanges is a column: the changes of a revision to a project's relations. The zero value means no changes.
type RelationChanges struct {
	All  bool             `json:"all,omitempty"` // any relation may have changed: they have to be read again
	List []RelationChange `json:"list,omitempty"`
}

// None reports whether nothing has changed.
func (c RelationChanges) None() bool { return !c.All && len(c.List) == 0 }

// Value implements driver.Valuer.
func (c RelationChanges) Value() (driver.Value, error) {
	if c.None() {
		return "", nil
	}
	return document(c)
}

// Scan implements sql.Scanner.
func (c *RelationChanges) Scan(value any) error {
	*c = RelationChanges{}
	if value == "" || value == nil {
		return nil
	}
	if text, ok := value.([]byte); ok && len(text) == 0 {
		return nil
	}
	type plain RelationChanges
	return readDocument(value, (*plain)(c))
}

// listedChanges is how many changes a revision lists.
const listedChanges = 256

// AddRelations inserts the relations that don't exist yet, and records them in the change feed. It returns how many it
// inserted. The object is in its canonical form.
func (t *Tx) AddRelations(rows []Relation, at time.Time) (added int64, err error) {
	if len(rows) == 0 {
		return 0, nil
	}
	res := t.db.Clauses(clause.OnConflict{DoNothing: true}).CreateInBatches(rows, batchSize)
	if res.Error != nil {
		return 0, res.Error
	}
	return res.RowsAffected, t.addRelationRevisions(rows, false, at)
}

// RelationFilter selects relations of a project; an empty field selects all.
type RelationFilter struct{ TenantID, User, Relation, Object string }

func (t *Tx) relations(projectID string, f RelationFilter) *gorm.DB {
	q := t.db.Where("project_id = ?", projectID)
	for _, one := range []struct{ column, value string }{
		{"tenant_id", f.TenantID}, {"object", f.Object}, {"relation", f.Relation}, {"user", f.User},
	} {
		switch {
		case one.value == "":
		case one.column == "user" && f.Object != "" && t.dialect == migrations.SQLite:
			q = q.Where(`"user" || '' = ?`, one.value) // by the index of objects: a user can own very many
		default:
			q = q.Where(clause.Eq{Column: one.column, Value: one.value})
		}
	}
	return q
}

// RemoveRelations removes the relations that the filter selects, and returns their number.
func (t *Tx) RemoveRelations(projectID string, f RelationFilter, at time.Time) (int, error) {
	return t.removeRelations(t.relations(projectID, f), at)
}

// removeRelationsOfUser removes the relations of an end user to objects of all projects.
func (t *Tx) removeRelationsOfUser(userID string, at time.Time) error {
	_, err := t.removeRelations(t.db.Where(`"user" = ?`, userID), at)
	return err
}

// addTenantRelationRevisions records that all relations of a tenant are removed.
func (t *Tx) addTenantRelationRevisions(tenantID string, at time.Time) error {
	var projects []string
	err := t.db.
		Model(&Relation{}).
		Distinct("project_id").
		Where("tenant_id = ?", tenantID).
		Order("project_id").
		Pluck("project_id", &projects).Error
	if err != nil {
		return err
	}
	for _, id := range projects {
		err := t.db.Create(&Revision{ProjectID: id, Relations: RelationChanges{All: true}, CreatedAt: at}).Error
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *Tx) removeRelations(of *gorm.DB, at time.Time) (int, error) {
	var gone []Relation
	if err := of.Clauses(clause.Returning{}).Delete(&gone).Error; err != nil {
		return 0, err
	}
	return len(gone), t.addRelationRevisions(gone, true, at)
}

// addRelationRevisions adds a revision for each project of the rows.
func (t *Tx) addRelationRevisions(rows []Relation, removed bool, at time.Time) error {
	order := []string{}
	changes := map[string]*RelationChanges{}
	for _, row := range rows {
		c := changes[row.ProjectID]
		if c == nil {
			c = &RelationChanges{}
			changes[row.ProjectID], order = c, append(order, row.ProjectID)
		}
		if len(c.List) == listedChanges {
			c.All, c.List = true, nil
		}
		if !c.All {
			c.List = append(c.List, RelationChange{row.TenantID, row.Object, row.Relation, row.User, removed})
		}
	}
	for _, id := range order {
		if err := t.db.Create(&Revision{ProjectID: id, Relations: *changes[id], CreatedAt: at}).Error; err != nil {
			return err
		}
	}
	return nil
}

const relationOrder = `tenant_id, object, relation, "user"`

func afterRelation(q *gorm.DB, row Relation) *gorm.DB {
	return q.Where(`(tenant_id, object, relation, "user") > (?, ?, ?, ?)`, row.TenantID, row.Object,
		row.Relation, row.User)
}

// relationsAtOnce keeps each query of ScanRelations far below the deadline of a statement.
const relationsAtOnce = 20_000

// ScanRelations calls fn with every relation of a project by tenant, object, relation and user, holding one row at a
// time. A million rows go through here, so the columns are scanned without GORM's reflection, and each page is read in
// its own query.
func (t *Tx) ScanRelations(projectID string, fn func(*Relation) error) error {
	row := Relation{ProjectID: projectID}
	for {
		read := 0
		q := afterRelation(t.db.Model(&Relation{}).Where("project_id = ?", projectID), row)
		err := scanRelations(q.Limit(relationsAtOnce), &row, func() error {
			read++
			return fn(&row)
		})
		if err != nil || read < relationsAtOnce {
			return err
		}
	}
}

func scanRelations(of *gorm.DB, row *Relation, fn func() error) (err error) {
	rows, err := of.Select("tenant_id", "object", "relation", `"user"`, "created_at").Order(relationOrder).Rows()
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := rows.Close(); err == nil {
			err = closeErr
		}
	}()
	for rows.Next() {
		if err := rows.Scan(&row.TenantID, &row.Object, &row.Relation, &row.User, &row.CreatedAt); err != nil {
			return err
		}
		if err := fn(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// CountRelations counts the relations of a project.
func (t *Tx) CountRelations(projectID string) (int64, error) {
	var n int64
	return n, t.db.Model(&Relation{}).Where("project_id = ?", projectID).Count(&n).Error
}

// PruneRelationRevisions removes revisions of relations from before a time. It keeps the newest revision of each
// project, and revisions that replicas may still have as their position.
func (t *Tx) PruneRelationRevisions(before time.Time) error {
	return t.db.Exec(`DELETE FROM revisions WHERE relations <> '' AND created_at < ?
		AND id < (SELECT max(id) FROM revisions) - 1000
		AND id NOT IN (SELECT max(id) FROM revisions GROUP BY project_id)`, before).Error
}

// RelationMiss is a row of relation_misses: responses of one day in which a rule found no object to remember, for one
// reason.
type RelationMiss struct {
	ProjectID string `gorm:"primaryKey"`
	VersionID string `gorm:"primaryKey"`
	Rule      string `gorm:"primaryKey"`
	Reason    string `gorm:"primaryKey"`
	Day       int64  `gorm:"primaryKey;autoIncrement:false"`
	Calls     int64
	LastAt    time.Time
}

// TableName implements schema.Tabler.
func (RelationMiss) TableName() string { return "relation_misses" }

// AddRelationMisses adds to the counts of a day, and creates missing rows.
func (t *Tx) AddRelationMisses(rows []RelationMiss) error {
	if err := t.lockUsage(); err != nil {
		return err
	}
	upsert := clause.OnConflict{
		Columns: []clause.Column{{Name: "project_id"}, {Name: "version_id"}, {Name: "rule"}, {Name: "reason"},
			{Name: "day"}},
		DoUpdates: clause.Set{
			{Column: clause.Column{Name: "calls"}, Value: gorm.Expr("relation_misses.calls + excluded.calls")},
			{Column: clause.Column{Name: "last_at"}, Value: gorm.Expr("excluded.last_at")},
		},
	}
	return t.db.Clauses(upsert).CreateInBatches(rows, batchSize).Error
}

// RelationMissesOf lists a version's counts since a day, by rule and reason. It doesn't set Day.
func (t *Tx) RelationMissesOf(projectID, versionID string, since int64) ([]RelationMiss, error) {
	var rows []RelationMiss
	err := t.db.
		Where("project_id = ? AND version_id = ? AND day >= ?", projectID, versionID, since).
		Order("rule, reason, day").
		Find(&rows).Error
	if err != nil {
		return nil, err
	}
	var list []RelationMiss
	for _, row := range rows {
		row.Day = 0
		if n := len(list); n > 0 && list[n-1].Rule == row.Rule && list[n-1].Reason == row.Reason {
			list[n-1].Calls += row.Calls
			list[n-1].LastAt = row.LastAt
			continue
		}
		list = append(list, row)
	}
	return list, nil
}

// DeleteRelationMisses deletes counts from before a day.
func (t *Tx) DeleteRelationMisses(before int64) error {
	return t.db.Where("day < ?", before).Delete(&RelationMiss{}).Error
}
