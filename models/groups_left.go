package models

import (
	"slices"
	"time"

	"gorm.io/gorm"
)

// GroupsLeft is an end user who left a group at a time.
type GroupsLeft struct {
	ID string
	At time.Time
}

// GroupsLeftSince lists by ID the users of a project's tenants who left a group, or stopped being an admin of one,
// after a time.
func (t *Tx) GroupsLeftSince(projectID string, after time.Time) ([]GroupsLeft, error) {
	var rows []EndUser
	// The condition is part of the text, because SQLite uses a partial index only then.
	err := t.db.
		Select("id", "groups_left_at").
		Where("groups_left_at IS NOT NULL AND tenant_id IN (?) AND groups_left_at > ?", t.served(projectID), after).
		Order("id").
		Find(&rows).Error
	list := make([]GroupsLeft, 0, len(rows))
	for _, row := range rows {
		list = append(list, GroupsLeft{row.ID, *row.GroupsLeftAt})
	}
	return list, err
}

// TenantsWithBarred returns the tenants with users that BarredUsers or GroupsLeftSince may list for a project that
// serves the tenant and isn't in a product.
func (t *Tx) TenantsWithBarred(tenantIDs []string) (map[string]bool, error) {
	var ids []string
	err := t.db.Raw("SELECT tenant_id FROM end_users WHERE state = 'frozen' AND tenant_id IN ? UNION SELECT tenant_id "+
		"FROM deleted_users WHERE tenant_id IN ? UNION SELECT tenant_id FROM end_users WHERE groups_left_at IS NOT "+
		"NULL AND tenant_id IN ?", tenantIDs, tenantIDs, tenantIDs).Scan(&ids).Error
	out := make(map[string]bool, len(ids))
	for _, id := range ids {
		out[id] = true
	}
	return out, err
}

// noteGroupsLeft records that the members that q selects leave a group now.
func (t *Tx) noteGroupsLeft(q *gorm.DB) error {
	members := q.Session(&gorm.Session{}).Model(&GroupMember{}).Select("user_id")
	return t.db.Model(&EndUser{}).Where("id IN (?)", members).UpdateColumn("groups_left_at", Now()).Error
}

// noteGroupLeftBelow is noteGroupsLeft for the members of a group and of those that are nested in it.
func (t *Tx) noteGroupLeftBelow(groupID string) error {
	const below = `WITH RECURSIVE below (id) AS (
			SELECT id FROM user_groups WHERE id = ?
			UNION
			SELECT group_groups.child_id FROM group_groups JOIN below ON below.id = group_groups.parent_id)
		UPDATE end_users SET groups_left_at = ?
		WHERE id IN (SELECT user_id FROM group_members WHERE group_id IN (SELECT id FROM below))`
	return t.db.Exec(below, groupID, Now()).Error
}

// noteAdminsLeft records that the listed users who are admins of their groups lose that role now.
func (t *Tx) noteAdminsLeft(list []GroupMember) error {
	users := map[string][]string{} // by group
	for _, one := range list {
		if one.Role != "admin" {
			users[one.GroupID] = append(users[one.GroupID], one.UserID)
		}
	}
	for group, ids := range users {
		for chunk := range slices.Chunk(ids, batchSize) {
			q := t.db.Where("group_id = ? AND role = ? AND user_id IN ?", group, "admin", chunk)
			if err := t.noteGroupsLeft(q); err != nil {
				return err
			}
		}
	}
	return nil
}
