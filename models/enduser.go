package models

import (
	"time"

	"gorm.io/gorm/clause"
)

// EndUser is a row of end_users: a user of a tenant.
type EndUser struct {
	ID            string `gorm:"primaryKey"`
	TenantID      string
	Email         string // lowercase; "" if the provider doesn't state one
	EmailVerified bool
	Name          string
	Profile       string  // JSON of the other claims of the scope profile, "" for none
	UserName      *string // lowercase; the name in a provisioning system, nil for none
	ExternalID    *string // the provisioning system's own id
	State         string  // active, frozen or invited
	LastLoginAt   *time.Time
	GroupsLeftAt  *time.Time // see GroupsLeftSince; written by the queries that end memberships
	CreatedAt     time.Time
	UpdatedAt     time.Time

	// The SHA-256 of the code in the user's invitation link, nil for none. SetInvitation writes both.
	InvitationHash   Digest
	InvitationEndsAt *time.Time
}

// Identity is a row of identities: the account of an end user at a provider. Issuer is the provider's type and issuer
// rather than a row of providers, so that two clients of a tenant, or a provider that is removed and added again, find
// the same user.
type Identity struct {
	TenantID   string `gorm:"primaryKey"`
	Issuer     string `gorm:"primaryKey"`
	Subject    string `gorm:"primaryKey"`
	UserID     string
	ProviderID string // through which it was first seen; no reference

	// DirectoryID is the user's id in the provider's directory, which SCIM sends as externalId; "" for none.
	DirectoryID string
	CreatedAt   time.Time
}

// SignupPolicy is a row of signup_policies: who may sign in to a tenant for the first time. A tenant without a row has
// the defaults.
type SignupPolicy struct {
	TenantID   string `gorm:"primaryKey"`
	InviteOnly bool
	UpdatedAt  time.Time
}

// Approval is a row of approvals: who may sign in to an invite-only tenant for the first time, and the groups (IDs)
// that they are added to.
type Approval struct {
	ID        string `gorm:"primaryKey"`
	TenantID  string
	Kind      string   // email or domain
	Value     string   // lowercase
	Groups    []string `gorm:"serializer:json"`
	CreatedAt time.Time
	UpdatedAt time.Time
}

// UserGroup is a row of user_groups.
type UserGroup struct {
	ID          string `gorm:"primaryKey"`
	TenantID    string
	Name        string
	DisplayName string
	ExternalID  *string // a provisioning system's id; nil if none created it
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// GroupMember is a row of group_members.
type GroupMember struct {
	GroupID   string `gorm:"primaryKey"`
	UserID    string `gorm:"primaryKey"`
	Role      string // member or admin
	Mapped    bool   // the user is only here because of a provider's claims; see MappedMember
	CreatedAt time.Time
}

// GroupOwner is a row of group_owners: an app that owns keys is in the group.
type GroupOwner struct {
	GroupID   string `gorm:"primaryKey"`
	Owner     string `gorm:"primaryKey"` // its name, as in APIKey
	Role      string // member or admin
	CreatedAt time.Time
}

// GroupGroup is a row of group_groups: members of the child are members of the
// parent.
type GroupGroup struct {
	ParentID  string `gorm:"primaryKey"`
	ChildID   string `gorm:"primaryKey"`
	CreatedAt time.Time
}

// EndUserByID finds an end user.
func (t *Tx) EndUserByID(id string) (EndUser, error) {
	var u EndUser
	return u, t.db.Where("id = ?", id).Take(&u).Error
}

// EndUserByIdentity finds the end user with an identity at a provider.
func (t *Tx) EndUserByIdentity(tenantID, issuer, subject string) (EndUser, error) {
	var u EndUser
	return u, t.db.Joins("JOIN identities ON identities.user_id = end_users.id").
		Where(
			"identities.tenant_id = ? AND identities.issuer = ? AND identities.subject = ?", tenantID, issuer,
			subject,
		).Take(&u).Error
}

// ExpectedByEmail returns at most two users with an address who haven't signed in yet, frozen ones first.
func (t *Tx) ExpectedByEmail(tenantID, email string) ([]EndUser, error) {
	var list []EndUser
	return list, t.db.
		Where("tenant_id = ? AND email = ? AND state <> 'active'", tenantID, email).
		Where("NOT EXISTS (SELECT 1 FROM identities WHERE identities.user_id = end_users.id)").
		Order("state, id").Limit(2).
		Find(&list).Error
}

// IsAddressShared reports whether a provisioning system has another user with the same address, who may have signed in.
func (t *Tx) IsAddressShared(row EndUser) (bool, error) {
	var count int64
	err := t.db.Model(&EndUser{}).
		Where("tenant_id = ? AND email = ? AND user_name IS NOT NULL AND id <> ?", row.TenantID, row.Email, row.ID).
		Limit(1).Count(&count).Error
	return count > 0, err
}

// EndUserByInvitation finds the user whose invitation link has the code with this hash and hasn't expired at now.
func (t *Tx) EndUserByInvitation(tenantID string, hash Digest, now time.Time) (EndUser, error) {
	var u EndUser
	return u, t.db.Where("tenant_id = ? AND invitation_hash = ? AND invitation_ends_at > ?", tenantID, hash, now).
		Take(&u).Error
}

// SetInvitation replaces a user's invitation link; a nil hash removes it.
func (t *Tx) SetInvitation(userID string, hash Digest, endsAt *time.Time) error {
	return t.db.Model(&EndUser{}).Where("id = ?", userID).Select("InvitationHash", "InvitationEndsAt").
		UpdateColumns(&EndUser{InvitationHash: hash, InvitationEndsAt: endsAt}).Error
}

// EndUsersByExternalID returns at most two users with a provisioning system's ID.
func (t *Tx) EndUsersByExternalID(tenantID, externalID string) ([]EndUser, error) {
	var list []EndUser
	return list, t.db.Where("tenant_id = ? AND external_id = ?", tenantID, externalID).Order("id").Limit(2).
		Find(&list).Error
}

// EndUserByDirectoryID finds the user who has signed in with the account that has this ID in its directory.
func (t *Tx) EndUserByDirectoryID(tenantID, directoryID string) (EndUser, error) {
	var u EndUser
	return u, t.db.Joins("JOIN identities ON identities.user_id = end_users.id").
		Where("identities.tenant_id = ? AND identities.directory_id = ?", tenantID, directoryID).
		Order("end_users.id").Take(&u).Error
}

// SetDirectoryID records the user's ID in the directory of an identity's provider.
func (t *Tx) SetDirectoryID(tenantID, issuer, subject, directoryID string) error {
	return t.db.Model(&Identity{}).
		Where("tenant_id = ? AND issuer = ? AND subject = ? AND directory_id <> ?", tenantID, issuer, subject,
			directoryID).
		UpdateColumn("directory_id", directoryID).Error
}

// AddIdentity links a subject to an end user. It returns false if the subject is
// linked already.
func (t *Tx) AddIdentity(row Identity) (bool, error) {
	res := t.db.Clauses(clause.OnConflict{DoNothing: true}).Create(&row)
	return res.RowsAffected == 1, res.Error
}

// DeleteIdentity unlinks a subject from an end user.
func (t *Tx) DeleteIdentity(row Identity) error {
	return t.db.
		Where(
			"tenant_id = ? AND issuer = ? AND subject = ? AND user_id = ?", row.TenantID, row.Issuer, row.Subject,
			row.UserID,
		).Delete(&Identity{}).Error
}

// UpdateEndUser writes the changeable columns.
func (t *Tx) UpdateEndUser(u EndUser) error {
	return t.db.
		Model(&EndUser{}).
		Where("id = ?", u.ID).
		Select("Email", "EmailVerified", "Name", "Profile", "UserName", "ExternalID", "State", "LastLoginAt",
			"UpdatedAt").
		UpdateColumns(&u).Error
}

// SignupPolicyOf returns the sign-up policy of a tenant, the defaults if it has no row.
func (t *Tx) SignupPolicyOf(tenantID string) (SignupPolicy, error) {
	var list []SignupPolicy
	err := t.db.Where("tenant_id = ?", tenantID).Find(&list).Error
	if len(list) == 0 {
		return SignupPolicy{TenantID: tenantID}, err
	}
	return list[0], err
}

// ApprovalsFor lists the approvals that match an address or its domain.
func (t *Tx) ApprovalsFor(tenantID, email, domain string) ([]Approval, error) {
	var list []Approval
	return list, t.db.Where(
		"tenant_id = ? AND ((kind = 'email' AND value = ?) OR (kind = 'domain' AND value = ?))", tenantID,
		email, domain,
	).
		Order(
			"id",
		).Find(
		&list,
	).Error
}

// AddGroupMembers adds memberships. Existing memberships stay, and no longer end with a provider's claims.
func (t *Tx) AddGroupMembers(list []GroupMember) error {
	if len(list) == 0 {
		return nil
	}
	return t.db.Clauses(clause.OnConflict{
		Columns:   []clause.Column{{Name: "group_id"}, {Name: "user_id"}},
		DoUpdates: clause.AssignmentColumns([]string{"mapped"}),
	}).Create(&list).Error
}

// GroupsOfUser lists the groups of an end user by name, including the groups in which these are nested. Unlike UNION
// ALL, UNION ends in a cycle.
func (t *Tx) GroupsOfUser(userID string) ([]UserGroup, error) {
	var list []UserGroup
	const query = `WITH RECURSIVE held (id) AS (
			SELECT group_id FROM group_members WHERE user_id = ?
			UNION
			SELECT group_groups.parent_id FROM group_groups JOIN held ON held.id = group_groups.child_id)
		SELECT user_groups.* FROM user_groups JOIN held ON held.id = user_groups.id
		ORDER BY user_groups.name`
	return list, t.db.Raw(query, userID).Scan(&list).Error
}

// GroupsNamed returns the groups of a tenant whose ID or name is one of the given.
func (t *Tx) GroupsNamed(tenantID string, idsOrNames []string) ([]UserGroup, error) {
	var list []UserGroup
	return list, t.db.Where("tenant_id = ? AND (id IN ? OR name IN ?)", tenantID, idsOrNames, idsOrNames).Order("id").
		Find(&list).Error
}

// GroupsWithin returns the IDs that belong to groups of a tenant.
func (t *Tx) GroupsWithin(tenantID string, ids []string) ([]UserGroup, error) {
	var list []UserGroup
	return list, t.db.Where("tenant_id = ? AND id IN ?", tenantID, ids).Order("id").Find(&list).Error
}
