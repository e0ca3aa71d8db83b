package models

import (
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// GroupMapping is a row of group_mappings: a rule by which a claim of a provider puts the
// users who sign in with it into a group.
type GroupMapping struct {
	ProviderID string `gorm:"primaryKey"`
	Position   int64  `gorm:"primaryKey;autoIncrement:false"` // in the provider's list, from 0
	Claim      string // a path
	Value      string
	Match      string // exact or prefix
	GroupID    string
}

// MappedMember is a row of mapped_members: a provider's claims put a user into a group.
type MappedMember struct {
	GroupID    string `gorm:"primaryKey"`
	UserID     string `gorm:"primaryKey"`
	ProviderID string `gorm:"primaryKey"`
}

// GroupMappingsOf lists the mappings of a provider in their order.
func (t *Tx) GroupMappingsOf(providerID string) ([]GroupMapping, error) {
	var list []GroupMapping
	return list, t.db.Where("provider_id = ?", providerID).Order("position").Find(&list).Error
}

// NamedMapping is a mapping with the name of its group.
type NamedMapping struct {
	GroupMapping
	Group string
}

// GroupMappingsServed lists the mappings of all providers of the app clients of the tenants
// that a project serves.
func (t *Tx) GroupMappingsServed(projectID string) ([]NamedMapping, error) {
	clients := t.db.Model(&AppClient{}).Select("id").Where("tenant_id IN (?)", t.served(projectID))
	var list []NamedMapping
	return list, t.db.
		Model(&GroupMapping{}).
		Select("group_mappings.*, user_groups.name AS \"group\"").
		Joins("JOIN user_groups ON user_groups.id = group_mappings.group_id").
		Where("provider_id IN (?)", t.db.Model(&Provider{}).Select("id").Where("app_client_id IN (?)", clients)).
		Order("provider_id, position").
		Find(&list).Error
}

// SetGroupMappings replaces the mappings of a provider.
func (t *Tx) SetGroupMappings(providerID string, list []GroupMapping) error {
	if err := t.db.Where("provider_id = ?", providerID).Delete(&GroupMapping{}).Error; err != nil {
		return err
	}
	if len(list) == 0 {
		return nil
	}
	return t.db.Create(&list).Error
}

// GroupsMappedFor lists the groups that a provider's claims put a user into, by id.
func (t *Tx) GroupsMappedFor(userID, providerID string) ([]string, error) {
	var list []string
	return list, t.db.
		Model(&MappedMember{}).
		Where("user_id = ? AND provider_id = ?", userID, providerID).
		Order("group_id").
		Pluck("group_id", &list).Error
}

// AddMappedMember records that a provider's claims put a user into a group. It returns false
// if the user was a member before.
func (t *Tx) AddMappedMember(row GroupMember, providerID string) (bool, error) {
	row.Mapped = true
	res := t.db.Clauses(clause.OnConflict{DoNothing: true}).Create(&row)
	if res.Error != nil {
		return false, res.Error
	}
	mapped := MappedMember{GroupID: row.GroupID, UserID: row.UserID, ProviderID: providerID}
	return res.RowsAffected == 1, t.db.Clauses(clause.OnConflict{DoNothing: true}).Create(&mapped).Error
}

// RemoveMappedMember records that a provider's claims no longer put a user into a group. It returns true if that ends
// the membership, because no other provider and no person put the user there.
func (t *Tx) RemoveMappedMember(groupID, userID, providerID string) (bool, error) {
	left, err := t.endMapped(t.db.Where(
		"group_id = ? AND user_id = ? AND provider_id = ?", groupID, userID, providerID,
	))
	return len(left) > 0, err
}

// EndMappings ends the memberships that depend only on providers' claims, except in the groups to keep. It returns the
// IDs of the groups that users left.
func (t *Tx) EndMappings(providerIDs, kept []string) ([]string, error) {
	q := t.db.Where("provider_id IN ?", providerIDs)
	if len(kept) > 0 {
		q = q.Where("group_id NOT IN ?", kept)
	}
	return t.endMapped(q)
}

// endMapped deletes the rows of mapped_members that q selects, and the memberships that
// ended with them. It returns the groups of those, by id.
func (t *Tx) endMapped(q *gorm.DB) ([]string, error) {
	var groups []string
	err := q.Session(&gorm.Session{}).Model(&MappedMember{}).Distinct().Order("group_id").
		Pluck("group_id", &groups).Error
	if err != nil || len(groups) == 0 {
		return nil, err
	}
	if err := q.Session(&gorm.Session{}).Delete(&MappedMember{}).Error; err != nil {
		return nil, err
	}
	var left []string
	for _, group := range groups {
		ended := t.db.
			Where("group_id = ? AND mapped", group).
			Where("NOT EXISTS (SELECT 1 FROM mapped_members WHERE mapped_members.group_id = group_members.group_id " +
				"AND mapped_members.user_id = group_members.user_id)")
		if err := t.noteGroupsLeft(ended); err != nil {
			return nil, err
		}
		res := ended.Session(&gorm.Session{}).Delete(&GroupMember{})
		if res.Error != nil {
			return nil, res.Error
		}
		if res.RowsAffected > 0 {
			left = append(left, group)
		}
	}
	return left, nil
}
