package models

import (
	"time"

	"gorm.io/gorm"
)

// AccessToken is a row of access_tokens: a token that an account gave a program. Hash is the SHA-256 of the whole
// token.
type AccessToken struct {
	ID         string `gorm:"primaryKey"`
	AccountID  string
	Kind       string // personal or cli
	Name       string
	Scopes     []string `gorm:"serializer:json"`
	Hash       []byte
	Last4      string
	CreatedAt  time.Time
	UpdatedAt  time.Time
	ExpiresAt  time.Time
	LastUsedAt *time.Time // to the minute

	// LastUsedFrom is the client's address at the first use within that minute.
	LastUsedFrom string
}

// DeviceGrant is a row of device_grants: a program's request for a token that waits for a user's approval (RFC 8628).
// The hashes are SHA-256.
type DeviceGrant struct {
	ID           string `gorm:"primaryKey"`
	DeviceHash   []byte
	UserHash     []byte
	Machine      string   // name of the machine, from the program
	RemoteAddr   string   // for IPv6, the network
	Scopes       []string `gorm:"serializer:json"`
	State        string   // pending, approved or denied
	AccountID    *string  // the account that approved it
	PollEvery    int64    // seconds
	LastPolledAt *time.Time
	CreatedAt    time.Time
	ExpiresAt    time.Time
}

// AccessTokenByHash finds a token that has not expired at now.
func (t *Tx) AccessTokenByHash(hash []byte, now time.Time) (AccessToken, error) {
	var token AccessToken
	return token, t.db.Where("hash = ? AND expires_at > ?", hash, now).Take(&token).Error
}

// AccessTokenByID finds a token of any account.
func (t *Tx) AccessTokenByID(id string) (AccessToken, error) {
	var token AccessToken
	return token, t.db.Where("id = ?", id).Take(&token).Error
}

// AccessTokensOf lists the tokens of an account that have not expired at now,
// newest first. Its pages can be sorted and searched by name.
func (t *Tx) AccessTokensOf(accountID string, page Page, now time.Time) (List[AccessToken], error) {
	q := t.db.Where("account_id = ? AND expires_at > ?", accountID, now)
	page = t.searching(page, "name")
	id := func(row AccessToken) string { return row.ID }
	if page.Sort == (Sort{}) {
		return newestFirst(q, page, id)
	}
	return sorted(q, page, orders[AccessToken]{
		"created":   byID("id", id),
		"name":      byText(t, "name", func(row AccessToken) string { return row.Name }),
		"expires":   byTime("expires_at", func(row AccessToken) *time.Time { return &row.ExpiresAt }),
		"last_used": byTime("last_used_at", func(row AccessToken) *time.Time { return row.LastUsedAt }),
	}, "id", id)
}

// CountAccessTokensOf counts an account's tokens that have not expired at now.
func (t *Tx) CountAccessTokensOf(accountID string, now time.Time) (int64, error) {
	var n int64
	return n, t.db.Model(&AccessToken{}).Where("account_id = ? AND expires_at > ?", accountID, now).Count(&n).Error
}

// TouchAccessToken records that a token was used from an address, if the time is later than the recorded one.
func (t *Tx) TouchAccessToken(id, from string, at time.Time) error {
	return t.db.
		Model(&AccessToken{}).
		Where("id = ? AND (last_used_at IS NULL OR last_used_at < ?)", id, at).
		UpdateColumns(map[string]any{"last_used_at": at, "last_used_from": from}).Error
}

// RenameAccessToken writes a token's name if the token was last updated at seen. Otherwise it returns false.
func (t *Tx) RenameAccessToken(row AccessToken, seen time.Time) (bool, error) {
	res := t.db.Model(&AccessToken{}).Where("id = ? AND updated_at = ?", row.ID, seen).
		UpdateColumns(map[string]any{"name": row.Name, "updated_at": row.UpdatedAt})
	return res.RowsAffected == 1, res.Error
}

// DeleteAccessToken removes a token. It returns false if it doesn't exist.
func (t *Tx) DeleteAccessToken(id string) (bool, error) {
	res := t.db.Where("id = ?", id).Delete(&AccessToken{})
	return res.RowsAffected == 1, res.Error
}

// DeleteAccessTokensOf removes every access token of an account.
func (t *Tx) DeleteAccessTokensOf(account string) error {
	return t.db.Where("account_id = ?", account).Delete(&AccessToken{}).Error
}

// TokensOfTeam lists a team's tokens of one kind that have not expired at now.
func (t *Tx) TokensOfTeam(kind, teamID string, now time.Time) ([]Token, error) {
	var list []Token
	return list, t.db.
		Where("kind = ? AND team_id = ? AND (expires_at IS NULL OR expires_at > ?)", kind, teamID, now).
		Order("id DESC").
		Find(&list).Error
}

// DeviceGrantByDevice finds the grant of a device code.
func (t *Tx) DeviceGrantByDevice(hash []byte) (DeviceGrant, error) {
	var grant DeviceGrant
	return grant, t.db.Where("device_hash = ?", hash).Take(&grant).Error
}

// PendingDeviceGrant finds the pending grant of a user code that has not expired at
// now.
func (t *Tx) PendingDeviceGrant(hash []byte, now time.Time) (DeviceGrant, error) {
	var grant DeviceGrant
	return grant, t.db.Where("user_hash = ? AND state = 'pending' AND expires_at > ?", hash, now).Take(&grant).Error
}

// DecideDeviceGrant approves or denies a pending grant. It returns false if it was already decided.
func (t *Tx) DecideDeviceGrant(id, state, accountID string) (bool, error) {
	res := t.db.Model(&DeviceGrant{}).Where("id = ? AND state = 'pending'", id).
		UpdateColumns(map[string]any{"state": state, "account_id": accountID})
	return res.RowsAffected == 1, res.Error
}

// PollDeviceGrant records that the program polled, and how many seconds it has to wait before it polls again.
func (t *Tx) PollDeviceGrant(id string, at time.Time, every int64) error {
	return t.db.Model(&DeviceGrant{}).Where("id = ?", id).
		UpdateColumns(map[string]any{"last_polled_at": at, "poll_every": every}).Error
}

// DeleteDeviceGrant removes a grant. It returns false if it does not exist.
func (t *Tx) DeleteDeviceGrant(id string) (bool, error) {
	res := t.db.Where("id = ?", id).Delete(&DeviceGrant{})
	return res.RowsAffected == 1, res.Error
}

// CountDeviceGrants counts the grants that are pending at now: those from one source, and all.
func (t *Tx) CountDeviceGrants(source string, now time.Time) (here, all int64, err error) {
	pending := t.db.Model(&DeviceGrant{}).Where("state = 'pending' AND expires_at > ?", now)
	if err := pending.Session(&gorm.Session{}).Count(&all).Error; err != nil {
		return 0, 0, err
	}
	return here, all, pending.Session(&gorm.Session{}).Where("remote_addr = ?", source).Count(&here).Error
}

// DeleteExpiredAccess deletes tokens that expired before now, and device grants that expired before longAgo. Until
// then, a program that polls gets expired_token.
func (t *Tx) DeleteExpiredAccess(now, longAgo time.Time) error {
	if err := t.db.Where("expires_at <= ?", now).Delete(&AccessToken{}).Error; err != nil {
		return err
	}
	return t.db.Where("expires_at <= ?", longAgo).Delete(&DeviceGrant{}).Error
}
