package models

import "gorm.io/gorm/clause"

// OwnerRow is an app owner in a group, as lists show it.
type OwnerRow struct {
	GroupOwner
	HasKeys bool // of the group's tenant, not revoked
}

// OwnersOfGroup lists the app owners that are directly in a group, by name.
func (t *Tx) OwnersOfGroup(groupID string, page Page) (List[OwnerRow], error) {
	q := t.db.
		Model(&GroupOwner{}).
		Select("group_owners.*, EXISTS (SELECT 1 FROM api_keys JOIN user_groups ON "+
			"user_groups.tenant_id = api_keys.tenant_id WHERE user_groups.id = group_owners.group_id AND "+
			"api_keys.owner = group_owners.owner AND api_keys.state <> 'revoked') AS has_keys").
		Where("group_id = ?", groupID)
	page = t.searching(page, "owner")
	owner := func(row OwnerRow) string { return row.Owner }
	if page.Sort == (Sort{}) {
		return ascending(q, page, "owner", owner)
	}
	return sorted(q, page, orders[OwnerRow]{
		"owner": byID("owner", owner),
		"role":  byText(t, "role", func(row OwnerRow) string { return row.Role }),
	}, "owner", owner)
}

// CountOwners counts the app owners that are directly in a group.
func (t *Tx) CountOwners(groupID string) (int64, error) {
	var n int64
	return n, t.db.Model(&GroupOwner{}).Where("group_id = ?", groupID).Count(&n).Error
}

// SetGroupOwners inserts memberships of app owners, or changes the role of those that exist.
func (t *Tx) SetGroupOwners(list []GroupOwner) error {
	if len(list) == 0 {
		return nil
	}
	return t.db.Clauses(clause.OnConflict{
		Columns:   []clause.Column{{Name: "group_id"}, {Name: "owner"}},
		DoUpdates: clause.AssignmentColumns([]string{"role"}),
	}).
		CreateInBatches(&list, batchSize).Error
}

// DeleteGroupOwner removes an app owner from a group. It returns false if it wasn't in the group.
func (t *Tx) DeleteGroupOwner(groupID, owner string) (bool, error) {
	res := t.db.Where("group_id = ? AND owner = ?", groupID, owner).Delete(&GroupOwner{})
	return res.RowsAffected == 1, res.Error
}

// GroupOwnersOfTenant lists the app owners in all groups of a tenant, by owner.
func (t *Tx) GroupOwnersOfTenant(tenantID string) ([]GroupOwner, error) {
	var list []GroupOwner
	groups := t.db.Model(&UserGroup{}).Select("id").Where("tenant_id = ?", tenantID)
	return list, t.db.Where("group_id IN (?)", groups).Order("owner, group_id").Find(&list).Error
}

// MembershipsOfApps lists which app owners are in groups with these names of a project's tenants, or in groups that are
// nested in those, by name. It doesn't look at their keys: the groups apply to every key with that owner that counts
// for the tenant.
func (t *Tx) MembershipsOfApps(projectID string, groups []string) ([]OwnedMembership, error) {
	const query = `WITH RECURSIVE below (id) AS (
			SELECT id FROM user_groups WHERE tenant_id IN (?) AND name IN ?
			UNION
			SELECT group_groups.child_id FROM group_groups JOIN below ON below.id = group_groups.parent_id)
		SELECT o.owner AS user_id, o.group_id, o.role, g.tenant_id, t.name AS tenant
		FROM below
		JOIN group_owners AS o ON o.group_id = below.id
		JOIN user_groups AS g ON g.id = o.group_id
		JOIN tenants AS t ON t.id = g.tenant_id
		ORDER BY o.owner, g.tenant_id, o.group_id`
	var list []OwnedMembership
	return list, t.db.Raw(query, t.served(projectID), groups).Scan(&list).Error
}
