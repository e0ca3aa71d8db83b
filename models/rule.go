package models

import (
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// UpdateVersionRules writes the rules of a version if the row still has the UpdatedAt that the caller
// saw. It returns false if another change came first.
func (t *Tx) UpdateVersionRules(v Version, seen time.Time) (bool, error) {
	res := t.db.Model(&Version{}).Where("id = ? AND updated_at = ?", v.ID, seen).
		Select("Rules", "UpdatedAt").
		UpdateColumns(&v)
	return res.RowsAffected == 1, res.Error
}

// ShadowRefusal is a row of shadow_refusals: calls of one day that a rule in shadow would have
// refused.
type ShadowRefusal struct {
	ProjectID string `gorm:"primaryKey"`
	VersionID string `gorm:"primaryKey"`
	Rule      string `gorm:"primaryKey"`
	Code      string `gorm:"primaryKey"`
	Day       int64  `gorm:"primaryKey;autoIncrement:false"`
	Calls     int64
	LastAt    time.Time
}

// AddShadowRefusals adds to the counts of a day, and creates missing rows.
func (t *Tx) AddShadowRefusals(rows []ShadowRefusal) error {
	if err := t.lockUsage(); err != nil {
		return err
	}
	upsert := clause.OnConflict{
		Columns: []clause.Column{{Name: "project_id"}, {Name: "version_id"}, {Name: "rule"}, {Name: "code"},
			{Name: "day"}},
		DoUpdates: clause.Set{
			{Column: clause.Column{Name: "calls"}, Value: gorm.Expr("shadow_refusals.calls + excluded.calls")},
			{Column: clause.Column{Name: "last_at"}, Value: gorm.Expr("excluded.last_at")},
		},
	}
	return t.db.Clauses(upsert).CreateInBatches(rows, batchSize).Error
}

// ShadowRefusalsOf lists the calls that a version's rules in shadow would have refused since a day, by rule and code.
// It doesn't set Day.
func (t *Tx) ShadowRefusalsOf(projectID, versionID string, since int64) ([]ShadowRefusal, error) {
	var rows []ShadowRefusal
	err := t.db.
		Where("project_id = ? AND version_id = ? AND day >= ?", projectID, versionID, since).
		Order("rule, code, day").
		Find(&rows).Error
	if err != nil {
		return nil, err
	}
	var list []ShadowRefusal
	for _, row := range rows {
		row.Day = 0
		if n := len(list); n > 0 && list[n-1].Rule == row.Rule && list[n-1].Code == row.Code {
			list[n-1].Calls += row.Calls
			list[n-1].LastAt = row.LastAt
			continue
		}
		list = append(list, row)
	}
	return list, nil
}

// DaysCounted is the number of days for which ShadowRefusals, InvalidRequests and RelationMisses are kept.
const DaysCounted = 30

// DeleteShadowRefusals deletes counts from before a day.
func (t *Tx) DeleteShadowRefusals(before int64) error {
	return t.db.Where("day < ?", before).Delete(&ShadowRefusal{}).Error
}

// OwnedMembership is the direct membership of an end user, or of an app that owns keys, in a group.
type OwnedMembership struct {
	UserID, GroupID, Role string // UserID is the name of an app

	TenantID, Tenant string // of the user or the group: id and name
}

// MembershipsOfOwners lists the groups of the end users who own a valid key of a project, by user. Only keys of the
// user's own tenant count, because the ID has no meaning in other tenants.
func (t *Tx) MembershipsOfOwners(project Project) ([]OwnedMembership, error) {
	valid := t.db.Where("k.project_id = ?", project.ID)
	if project.ProductID != nil {
		valid = valid.Or("k.product_id = ?", *project.ProductID)
	}
	product := t.db.Model(&Project{}).Select("product_id").Where("id = ?", project.ID)
	near := t.db.Model(&Project{}).Select("id").Where("id = ? OR product_id = (?)", project.ID, product)
	attached := t.db.Model(&ProjectTenant{}).Select("tenant_id").Where("project_id IN (?)", near)
	tenants := t.db.Model(&Tenant{}).Select("id").Where("project_id IN (?) OR id IN (?)", near, attached)
	var list []OwnedMembership
	return list, t.db.
		Table("group_members AS m").
		Select("DISTINCT m.user_id, m.group_id, m.role, u.tenant_id, t.name AS tenant").
		Joins("JOIN end_users AS u ON u.id = m.user_id").
		Joins("JOIN tenants AS t ON t.id = u.tenant_id").
		Joins("JOIN api_keys AS k ON k.owner = u.id AND k.tenant_id = u.tenant_id AND k.state <> 'revoked'").
		Where(valid).
		Where("u.tenant_id IN (?)", tenants).
		Order("m.user_id, m.group_id").
		Scan(&list).Error
}

// MembershipsOfUsers lists which users of a project's tenants are in groups with these names, or in groups that are
// nested in those, by user.
func (t *Tx) MembershipsOfUsers(projectID string, groups []string) ([]OwnedMembership, error) {
	const query = `WITH RECURSIVE below (id) AS (
			SELECT id FROM user_groups WHERE tenant_id IN (?) AND name IN ?
			UNION
			SELECT group_groups.child_id FROM group_groups JOIN below ON below.id = group_groups.parent_id)
		SELECT m.user_id, m.group_id, m.role, u.tenant_id, t.name AS tenant
		FROM below
		JOIN group_members AS m ON m.group_id = below.id
		JOIN end_users AS u ON u.id = m.user_id
		JOIN tenants AS t ON t.id = u.tenant_id
		ORDER BY m.user_id, m.group_id`
	var list []OwnedMembership
	return list, t.db.Raw(query, t.served(projectID), groups).Scan(&list).Error
}

// GroupTree lists the groups of tenants, and their nestings.
func (t *Tx) GroupTree(tenantIDs []string) (groups []UserGroup, nested []GroupGroup, err error) {
	if err := t.db.Where("tenant_id IN ?", tenantIDs).Order("id").Find(&groups).Error; err != nil {
		return nil, nil, err
	}
	of := t.db.Model(&UserGroup{}).Select("id").Where("tenant_id IN ?", tenantIDs)
	return groups, nested, t.db.Where("child_id IN (?)", of).Find(&nested).Error
}

// GroupNamesOf lists the given names that belong to groups of the tenants that a project serves.
func (t *Tx) GroupNamesOf(projectID string, names []string) ([]string, error) {
	var known []string
	return known, t.db.
		Model(&UserGroup{}).
		Distinct().
		Where("name IN ? AND tenant_id IN (?)", names, t.served(projectID)).
		Pluck("name", &known).Error
}

// GroupsWithRole lists the names of the groups that an end user is directly in with a role, sorted.
func (t *Tx) GroupsWithRole(userID, role string) ([]string, error) {
	var names []string
	return names, t.db.
		Table("user_groups AS g").
		Joins("JOIN group_members AS m ON m.group_id = g.id").
		Where("m.user_id = ? AND m.role = ?", userID, role).
		Order("g.name").
		Pluck("g.name", &names).Error
}

// AddRuleRevisions adds a revision for every project whose rules require groups and for which a key or token of a
// tenant's user can be valid.
func (t *Tx) AddRuleRevisions(tenant Tenant, at time.Time) error {
	near, err := t.ProjectsNear(tenant)
	if err != nil {
		return err
	}
	var asking []string
	err = t.db.
		Model(&Version{}).
		Distinct("project_id").
		Where("project_id IN ? AND rules LIKE ?", near, `%"groups":%`).
		Order("project_id").
		Pluck("project_id", &asking).Error
	if err != nil {
		return err
	}
	for _, project := range asking {
		if err := t.AddRevision(project, "", at); err != nil {
			return err
		}
	}
	return nil
}
