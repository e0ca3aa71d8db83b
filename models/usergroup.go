package models

import (
	"cmp"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// GroupFilter narrows a list of groups; a zero field does not.
type GroupFilter struct {
	Name        string // exact
	DisplayName string // exact; of those without one, the name
	ExternalID  string // exact
	ID          string // exact
	Member      string // id of a user or group that is directly in it
}

func (t *Tx) groupsOf(tenantID string, f GroupFilter) *gorm.DB {
	q := t.db.Model(&UserGroup{}).Where("tenant_id = ?", tenantID)
	if f.Name != "" {
		q = q.Where("name = ?", f.Name)
	}
	if f.DisplayName != "" {
		q = q.Where("lower(CASE WHEN display_name = '' THEN name ELSE display_name END) = lower(?)", f.DisplayName)
	}
	if f.ExternalID != "" {
		q = q.Where("external_id = ?", f.ExternalID)
	}
	if f.ID != "" {
		q = q.Where("id = ?", f.ID)
	}
	if f.Member != "" {
		q = q.Where(
			"(id IN (?) OR id IN (?))",
			t.db.Model(&GroupMember{}).Select("group_id").Where("user_id = ?", f.Member),
			t.db.Model(&GroupGroup{}).Select("parent_id").Where("child_id = ?", f.Member),
		)
	}
	return q
}

// UserGroupsOf lists a tenant's groups by name.
func (t *Tx) UserGroupsOf(tenantID string, page Page) (List[UserGroup], error) {
	q := t.groupsOf(tenantID, GroupFilter{})
	page = t.searching(page, "name", "display_name")
	if page.Sort == (Sort{}) {
		return ascending(q, page, "name", func(row UserGroup) string { return row.Name })
	}
	id := func(row UserGroup) string { return row.ID }
	return sorted(q, page, orders[UserGroup]{
		"created": byID("id", id),
		"name":    byText(t, shownName, func(row UserGroup) string { return cmp.Or(row.DisplayName, row.Name) }),
	}, "id", id)
}

// UserGroupsFrom counts a tenant's groups and lists some of them, oldest first,
// without the first skip.
func (t *Tx) UserGroupsFrom(
	tenantID string, f GroupFilter, skip, limit int,
) (list []UserGroup, total int64, err error) {
	if err := t.groupsOf(tenantID, f).Count(&total).Error; err != nil {
		return nil, 0, err
	}
	return list, total, t.groupsOf(tenantID, f).Order("id").Offset(skip).Limit(limit).Find(&list).Error
}

// UserGroupByID finds a group.
func (t *Tx) UserGroupByID(id string) (UserGroup, error) {
	var g UserGroup
	return g, t.db.Where("id = ?", id).Take(&g).Error
}

// UpdateUserGroup writes the changeable columns.
func (t *Tx) UpdateUserGroup(g UserGroup) error {
	return t.db.
		Model(&UserGroup{}).
		Where("id = ?", g.ID).
		Select("Name", "DisplayName", "ExternalID", "UpdatedAt").
		UpdateColumns(&g).Error
}

// DeleteUserGroup removes a group; its members and the groups in it stay.
func (t *Tx) DeleteUserGroup(id string) error {
	if err := t.noteGroupLeftBelow(id); err != nil {
		return err
	}
	if err := t.db.Where("group_id = ?", id).Delete(&GroupMember{}).Error; err != nil {
		return err
	}
	if err := t.db.Where("group_id = ?", id).Delete(&GroupOwner{}).Error; err != nil {
		return err
	}
	if err := t.db.Where("parent_id = ? OR child_id = ?", id, id).Delete(&GroupGroup{}).Error; err != nil {
		return err
	}
	return t.db.Where("id = ?", id).Delete(&UserGroup{}).Error
}

// MemberRow is a membership of an end user, with what lists of members show.
type MemberRow struct {
	GroupMember
	Email string
	Name  string
	State string
}

// MembersOfGroup lists the direct members of a group by id.
func (t *Tx) MembersOfGroup(groupID string, page Page) (List[MemberRow], error) {
	q := t.db.
		Model(&GroupMember{}).
		Select("group_members.*, end_users.email, end_users.name, end_users.state").
		Joins("JOIN end_users ON end_users.id = group_members.user_id").
		Where("group_id = ?", groupID)
	page = t.searching(page, "end_users.email", "end_users.name")
	page.of = "end_users"
	id := func(row MemberRow) string { return row.UserID }
	if page.Sort == (Sort{}) {
		return ascending(q, page, "user_id", id)
	}
	return sorted(q, page, orders[MemberRow]{
		"name": byText(t, shownMember, func(row MemberRow) string { return cmp.Or(row.Name, row.Email) }),
		"role": byText(t, "role", func(row MemberRow) string { return row.Role }),
	}, "user_id", id)
}

// MemberCounts are how many users and app owners are directly in a group.
type MemberCounts struct {
	Users, Owners int64
}

// CountMembers counts the direct members of each group.
func (t *Tx) CountMembers(groupIDs []string) (map[string]MemberCounts, error) {
	var rows []struct {
		GroupID string
		MemberCounts
	}
	err := t.db.Raw("SELECT group_id, CAST(sum(users) AS BIGINT) AS users, CAST(sum(owners) AS BIGINT) "+
		"AS owners FROM ("+
		"SELECT group_id, count(*) AS users, 0 AS owners FROM group_members WHERE group_id IN ? GROUP BY group_id "+
		"UNION ALL "+
		"SELECT group_id, 0 AS users, count(*) AS owners FROM group_owners WHERE group_id IN ? GROUP BY group_id"+
		") AS counted GROUP BY group_id", groupIDs, groupIDs).Scan(&rows).Error
	if err != nil {
		return nil, err
	}
	counts := make(map[string]MemberCounts, len(rows))
	for _, row := range rows {
		counts[row.GroupID] = row.MemberCounts
	}
	return counts, nil
}

// GroupMembershipsOf lists the groups that an end user is in directly, by group.
func (t *Tx) GroupMembershipsOf(userID string) ([]GroupMember, error) {
	var list []GroupMember
	return list, t.db.Where("user_id = ?", userID).Order("group_id").Find(&list).Error
}

// SetGroupMembers inserts memberships, or changes the role of those that exist. They do not
// end with a provider's claims.
func (t *Tx) SetGroupMembers(list []GroupMember) error {
	if len(list) == 0 {
		return nil
	}
	if err := t.noteAdminsLeft(list); err != nil {
		return err
	}
	return t.db.Clauses(clause.OnConflict{
		Columns:   []clause.Column{{Name: "group_id"}, {Name: "user_id"}},
		DoUpdates: clause.AssignmentColumns([]string{"role", "mapped"}),
	}).
		CreateInBatches(&list, 500).Error
}

// DeleteGroupMembers removes memberships, all of the group's without ids.
func (t *Tx) DeleteGroupMembers(groupID string, userIDs ...string) (int64, error) {
	q := t.db.Where("group_id = ?", groupID)
	if len(userIDs) > 0 {
		q = q.Where("user_id IN ?", userIDs)
	}
	if err := t.noteGroupsLeft(q); err != nil {
		return 0, err
	}
	res := q.Session(&gorm.Session{}).Delete(&GroupMember{})
	return res.RowsAffected, res.Error
}

// ChildrenOf lists the groups that are nested directly in a group, by name.
func (t *Tx) ChildrenOf(groupID string) ([]UserGroup, error) {
	var list []UserGroup
	return list, t.db.
		Where("id IN (?)", t.db.Model(&GroupGroup{}).Select("child_id").Where("parent_id = ?", groupID)).
		Order("name").
		Find(&list).Error
}

// ParentsOf lists the groups that a group is nested in directly, by name.
func (t *Tx) ParentsOf(groupID string) ([]UserGroup, error) {
	var list []UserGroup
	return list, t.db.
		Where("id IN (?)", t.db.Model(&GroupGroup{}).Select("parent_id").Where("child_id = ?", groupID)).
		Order("name").
		Find(&list).Error
}

// Contains reports whether inner is nested in outer, at any depth.
func (t *Tx) Contains(outer, inner string) (bool, error) {
	var found []string
	err := t.db.Raw(`WITH RECURSIVE above (id) AS (
			SELECT parent_id FROM group_groups WHERE child_id = ?
			UNION
			SELECT group_groups.parent_id FROM group_groups JOIN above ON above.id = group_groups.child_id)
		SELECT id FROM above WHERE id = ?`, inner, outer).Scan(&found).Error
	return len(found) > 0, err
}

// Nest puts a group into another; it may be there already.
func (t *Tx) Nest(row GroupGroup) (bool, error) {
	res := t.db.Clauses(clause.OnConflict{DoNothing: true}).Create(&row)
	return res.RowsAffected == 1, res.Error
}

// Unnest takes a group out of another; false when it was not there.
func (t *Tx) Unnest(parentID, childID string) (bool, error) {
	if err := t.noteGroupLeftBelow(childID); err != nil {
		return false, err
	}
	res := t.db.Where("parent_id = ? AND child_id = ?", parentID, childID).Delete(&GroupGroup{})
	return res.RowsAffected == 1, res.Error
}
