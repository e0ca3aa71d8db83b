package models

import (
	"strings"
	"time"

	"gorm.io/gorm/clause"

	"postern/migrations"
)

// Team is a row of teams. A nil ClaimedAt means an unclaimed workspace, which ends at ExpiresAt. MergedInto is the team
// into which a workspace was merged, nil for none.
type Team struct {
	ID            string `gorm:"primaryKey"`
	Name          string
	ClaimedAt     *time.Time
	ClaimCodeHash Digest
	SignedUpID    *string // account that was created with the claim code
	ExpiresAt     *time.Time
	MergedInto    *string
	CreatedAt     time.Time
}

// Membership is a row of memberships.
type Membership struct {
	TeamID    string `gorm:"primaryKey"`
	AccountID string `gorm:"primaryKey"`
	Role      string
	CreatedAt time.Time
}

// Member is a membership with its account.
type Member struct {
	Membership
	Name  string
	Email string
}

// Invitation is a row of invitations. CodeHash is the SHA-256 of the code in the
// link. If Email is empty, anyone with the link can accept.
type Invitation struct {
	ID        string `gorm:"primaryKey"`
	TeamID    string
	Role      string
	Email     string
	CodeHash  []byte
	CreatedBy string
	CreatedAt time.Time
	ExpiresAt time.Time
	UsedAt    *time.Time

	ByMail   bool       // the code is sent only to Email
	MailedAt *time.Time // nil: not yet, or not sent by mail
}

// TeamByID finds a team.
func (t *Tx) TeamByID(id string) (Team, error) {
	var team Team
	return team, t.db.Where("id = ?", id).Take(&team).Error
}

// LockTeam finds a team and keeps it from being changed until the transaction ends. On SQLite, write transactions
// exclude each other anyway.
func (t *Tx) LockTeam(id string) (Team, error) {
	q := t.db
	if t.dialect == migrations.Postgres {
		q = q.Clauses(clause.Locking{Strength: clause.LockingStrengthShare})
	}
	var team Team
	return team, q.Where("id = ?", id).Take(&team).Error
}

// TeamByClaimCode finds the workspace of a claim code.
func (t *Tx) TeamByClaimCode(hash []byte) (Team, error) {
	var team Team
	return team, t.db.Where("claim_code_hash = ?", hash).Take(&team).Error
}

// ClaimTeam gives an unclaimed workspace its owner's name, and removes its expiry. It returns false if it was already
// claimed, or is being deleted (LockTeamForPurge).
func (t *Tx) ClaimTeam(id, name string, now time.Time) (bool, error) {
	res := t.db.Model(&Team{}).Where("id = ? AND claimed_at IS NULL AND claim_code_hash IS NOT NULL", id).
		UpdateColumns(map[string]any{"name": name, "claimed_at": now, "expires_at": nil})
	return res.RowsAffected == 1, res.Error
}

// MergeTeam records the team into which a workspace was merged.
func (t *Tx) MergeTeam(id, into string) error {
	return t.db.Model(&Team{}).Where("id = ?", id).UpdateColumn("merged_into", into).Error
}

// MergedInto returns the team into which a team was merged, "" for none.
func (t *Tx) MergedInto(id string) (string, error) {
	var into []string
	err := t.db.Model(&Team{}).Where("id = ? AND merged_into IS NOT NULL", id).Pluck("merged_into", &into).Error
	return strings.Join(into, ""), err
}

// TeamsMergedInto lists at most limit teams that were merged into others, newest claim first.
func (t *Tx) TeamsMergedInto(ids []string, limit int) ([]Team, error) {
	var list []Team
	return list, t.db.Where("merged_into IN ?", ids).Order("claimed_at DESC, id").Limit(limit).Find(&list).Error
}

// SignUpWithTeam records the account that was created with an unclaimed workspace's code. It returns false if one was
// created before.
func (t *Tx) SignUpWithTeam(id, accountID string) (bool, error) {
	res := t.db.
		Model(&Team{}).
		Where("id = ? AND claimed_at IS NULL AND signed_up_id IS NULL", id).
		UpdateColumn("signed_up_id", accountID)
	return res.RowsAffected == 1, res.Error
}

// HoldTeam finds a team and locks it until the transaction ends, so that changes of its members don't overlap.
func (t *Tx) HoldTeam(id string) (Team, error) {
	var team Team
	return team, t.held().Where("id = ?", id).Take(&team).Error
}

// TeamsByID lists the teams with these ids, oldest first.
func (t *Tx) TeamsByID(ids []string) ([]Team, error) {
	var list []Team
	return list, t.db.Where("id IN ?", ids).Order("id").Find(&list).Error
}

// RenameTeam writes a team's name.
func (t *Tx) RenameTeam(id, name string) error {
	return t.db.Model(&Team{}).Where("id = ?", id).UpdateColumn("name", name).Error
}

// MembershipsOf lists the teams an account belongs to, oldest first.
func (t *Tx) MembershipsOf(accountID string) ([]Membership, error) {
	var list []Membership
	return list, t.db.Where("account_id = ?", accountID).Order("created_at, team_id").Find(&list).Error
}

// MembershipOf finds an account's membership in a team.
func (t *Tx) MembershipOf(teamID, accountID string) (Membership, error) {
	var m Membership
	return m, t.db.Where("team_id = ? AND account_id = ?", teamID, accountID).Take(&m).Error
}

// MembersOf lists the members of a team by account id.
func (t *Tx) MembersOf(teamID string, page Page) (List[Member], error) {
	q := t.db.
		Model(&Membership{}).
		Select("memberships.*", "accounts.name", "accounts.email").
		Joins("JOIN accounts ON accounts.id = memberships.account_id").
		Where("team_id = ?", teamID)
	q = filtered(q, t.searching(page, "accounts.email", "accounts.name").match) // a team has few
	id := func(row Member) string { return row.AccountID }
	if page.Sort == (Sort{}) {
		return ascending(q, page, "account_id", id)
	}
	return sorted(q, page, orders[Member]{
		"joined": byTime("memberships.created_at", func(row Member) *time.Time { return &row.CreatedAt }),
		"name":   byText(t, "accounts.name", func(row Member) string { return row.Name }),
		"role":   byText(t, "role", func(row Member) string { return row.Role }),
	}, "account_id", id)
}

// CountRole counts the members of a team that have a role.
func (t *Tx) CountRole(teamID, role string) (int64, error) {
	var n int64
	return n, t.db.Model(&Membership{}).Where("team_id = ? AND role = ?", teamID, role).Count(&n).Error
}

// SetRole changes an account's role in a team.
func (t *Tx) SetRole(teamID, accountID, role string) error {
	return t.db.
		Model(&Membership{}).
		Where("team_id = ? AND account_id = ?", teamID, accountID).
		UpdateColumn("role", role).Error
}

// DeleteMembership removes an account from a team.
func (t *Tx) DeleteMembership(teamID, accountID string) error {
	return t.db.Where("team_id = ? AND account_id = ?", teamID, accountID).Delete(&Membership{}).Error
}

// InvitationByCode finds the invitation of a code, even if it was used or has expired.
func (t *Tx) InvitationByCode(hash []byte) (Invitation, error) {
	var i Invitation
	return i, t.db.Where("code_hash = ?", hash).Take(&i).Error
}

// InvitationByID finds an invitation.
func (t *Tx) InvitationByID(id string) (Invitation, error) {
	var i Invitation
	return i, t.db.Where("id = ?", id).Take(&i).Error
}

// OpenInvitations lists by ID a team's invitations that can be accepted at now.
func (t *Tx) OpenInvitations(teamID string, page Page, now time.Time) (List[Invitation], error) {
	q := t.db.Where("team_id = ? AND used_at IS NULL AND expires_at > ?", teamID, now)
	page = t.searching(page, "email")
	id := func(row Invitation) string { return row.ID }
	if page.Sort == (Sort{}) {
		return ascending(q, page, "id", id)
	}
	return sorted(q, page, orders[Invitation]{
		"created": byID("id", id),
		"email":   byText(t, "email", func(row Invitation) string { return row.Email }),
		"role":    byText(t, "role", func(row Invitation) string { return row.Role }),
		"expires": byTime("expires_at", func(row Invitation) *time.Time { return &row.ExpiresAt }),
	}, "id", id)
}

// OpenInvitationsBy is OpenInvitations for the invitations that one account created.
func (t *Tx) OpenInvitationsBy(teamID, accountID string, now time.Time) ([]Invitation, error) {
	var list []Invitation
	return list, t.db.
		Where("team_id = ? AND created_by = ? AND used_at IS NULL AND expires_at > ?", teamID, accountID, now).
		Order("id").
		Find(&list).Error
}

// UseInvitation marks an invitation as used. It returns false if it was already used or was revoked.
func (t *Tx) UseInvitation(id string, now time.Time) (bool, error) {
	res := t.db.Model(&Invitation{}).Where("id = ? AND used_at IS NULL", id).UpdateColumn("used_at", now)
	return res.RowsAffected == 1, res.Error
}

// SetInvitationCode gives an unused invitation a new code, and sets when it was mailed (nil for not yet). It returns
// false if there is no such invitation.
func (t *Tx) SetInvitationCode(id string, hash []byte, mailedAt *time.Time) (bool, error) {
	res := t.db.Model(&Invitation{}).Where("id = ? AND used_at IS NULL", id).
		UpdateColumns(map[string]any{"code_hash": hash, "mailed_at": mailedAt})
	return res.RowsAffected == 1, res.Error
}

// DeleteInvitation removes an unused invitation. It returns false if there is no such invitation.
func (t *Tx) DeleteInvitation(id string) (bool, error) {
	res := t.db.Where("id = ? AND used_at IS NULL", id).Delete(&Invitation{})
	return res.RowsAffected == 1, res.Error
}

// DeleteInvitationsBefore removes invitations that had expired by the given time, including used ones.
func (t *Tx) DeleteInvitationsBefore(at time.Time) error {
	return t.db.Where("expires_at <= ?", at).Delete(&Invitation{}).Error
}
