package models

import "gorm.io/gorm"

// People has users of a tenant with everything that belongs to them. Each list is in ascending order of the users' IDs.
type People struct {
	Users       []EndUser
	Identities  []Identity
	Memberships []GroupMember
	Consents    []LoginConsent
}

// PeopleAfter lists at most limit users of a tenant whose IDs come after after.
func (t *Tx) PeopleAfter(tenantID, after string, limit int) (People, error) {
	var p People
	err := t.db.Where("tenant_id = ? AND id > ?", tenantID, after).Order("id").Limit(limit).Find(&p.Users).Error
	if err != nil || len(p.Users) == 0 {
		return p, err
	}
	last := p.Users[len(p.Users)-1].ID
	theirs := func() *gorm.DB {
		users := t.db.Model(&EndUser{}).Select("id").Where("tenant_id = ? AND id > ? AND id <= ?",
			tenantID, after, last)
		return t.db.Where("user_id IN (?)", users)
	}
	if err := theirs().Order("user_id, issuer, subject").Find(&p.Identities).Error; err != nil {
		return p, err
	}
	if err := theirs().Order("user_id, group_id").Find(&p.Memberships).Error; err != nil {
		return p, err
	}
	return p, theirs().Order("user_id, client_id").Find(&p.Consents).Error
}

// CountPeople counts the users of a tenant.
func (t *Tx) CountPeople(tenantID string) (int64, error) {
	var n int64
	return n, t.db.Model(&EndUser{}).Where("tenant_id = ?", tenantID).Count(&n).Error
}

// CountConsents counts the consents of a tenant's users.
func (t *Tx) CountConsents(tenantID string) (int64, error) {
	users := t.db.Model(&EndUser{}).Select("id").Where("tenant_id = ?", tenantID)
	var n int64
	return n, t.db.Model(&LoginConsent{}).Where("user_id IN (?)", users).Count(&n).Error
}

// AllApprovals lists the approvals of a tenant by ID.
func (t *Tx) AllApprovals(tenantID string) ([]Approval, error) {
	var list []Approval
	return list, t.db.Where("tenant_id = ?", tenantID).Order("id").Find(&list).Error
}

// AllUserGroups lists the groups of a tenant by name.
func (t *Tx) AllUserGroups(tenantID string) ([]UserGroup, error) {
	var list []UserGroup
	return list, t.db.Where("tenant_id = ?", tenantID).Order("name").Find(&list).Error
}

// AllNestings lists the nestings of a tenant's groups by child and parent.
func (t *Tx) AllNestings(tenantID string) ([]GroupGroup, error) {
	groups := t.db.Model(&UserGroup{}).Select("id").Where("tenant_id = ?", tenantID)
	var list []GroupGroup
	return list, t.db.Where("child_id IN (?)", groups).Order("child_id, parent_id").Find(&list).Error
}

// ProvidersWithSecrets lists the providers of a project's app clients that have a secret, including the sealed secret.
func (t *Tx) ProvidersWithSecrets(projectID string) ([]Provider, error) {
	var list []Provider
	return list, t.db.Where("app_client_id IN (?) AND client_secret IS NOT NULL", t.clientsServed(projectID)).
		Order("id").Find(&list).Error
}
