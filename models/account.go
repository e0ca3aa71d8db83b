package models

import (
	"time"

	"gorm.io/gorm/clause"

	"postern/migrations"
)

// Account is a row of accounts.
type Account struct {
	ID           string `gorm:"primaryKey"`
	Email        string
	Name         string
	PasswordHash string
	Operator     bool // of the installation, beside what they are in teams
	CreatedAt    time.Time
}

// Team is a row of teams. ClaimedAt nil means an unclaimed workspace, which
// ends at ExpiresAt.
type Team struct {
	ID            string `gorm:"primaryKey"`
	Name          string
	ClaimedAt     *time.Time
	ClaimCodeHash Digest
	ExpiresAt     *time.Time
	CreatedAt     time.Time
}

// Membership is a row of memberships.
type Membership struct {
	TeamID    string `gorm:"primaryKey"`
	AccountID string `gorm:"primaryKey"`
	Role      string
	CreatedAt time.Time
}

// Token is a row of tokens: workspace keys, sessions and one-time sign-in
// links. Hash is the SHA-256 of the secret.
type Token struct {
	ID        string `gorm:"primaryKey"`
	Kind      string
	TeamID    *string
	AccountID *string
	Hash      []byte
	CreatedAt time.Time
	ExpiresAt *time.Time
	UsedAt    *time.Time
}

// CountAccounts counts all accounts.
func (t *Tx) CountAccounts() (int64, error) {
	var n int64
	return n, t.db.Model(&Account{}).Count(&n).Error
}

// AccountByEmail finds an account by its lower-case address.
func (t *Tx) AccountByEmail(email string) (Account, error) {
	var a Account
	return a, t.db.Where("email = ?", email).Take(&a).Error
}

// AccountByID finds an account.
func (t *Tx) AccountByID(id string) (Account, error) {
	var a Account
	return a, t.db.Where("id = ?", id).Take(&a).Error
}

// TeamByID finds a team.
func (t *Tx) TeamByID(id string) (Team, error) {
	var team Team
	return team, t.db.Where("id = ?", id).Take(&team).Error
}

// LockTeam finds a team and keeps it from being changed until the transaction
// ends. On SQLite every write transaction excludes all others anyway.
func (t *Tx) LockTeam(id string) (Team, error) {
	q := t.db
	if t.dialect == migrations.Postgres {
		q = q.Clauses(clause.Locking{Strength: clause.LockingStrengthShare})
	}
	var team Team
	return team, q.Where("id = ?", id).Take(&team).Error
}

// TeamByClaimCode finds the workspace a claim code was given out for.
func (t *Tx) TeamByClaimCode(hash []byte) (Team, error) {
	var team Team
	return team, t.db.Where("claim_code_hash = ?", hash).Take(&team).Error
}

// ClaimTeam gives an unclaimed workspace its owner's name and an endless life;
// false when somebody was faster, or has begun to delete it (CondemnTeam).
func (t *Tx) ClaimTeam(id, name string, now time.Time) (bool, error) {
	res := t.db.Model(&Team{}).Where("id = ? AND claimed_at IS NULL AND claim_code_hash IS NOT NULL", id).
		UpdateColumns(map[string]any{"name": name, "claimed_at": now, "expires_at": nil})
	return res.RowsAffected == 1, res.Error
}

// DeleteTokensOfTeam removes a team's tokens of one kind.
func (t *Tx) DeleteTokensOfTeam(kind, teamID string) error {
	return t.db.Where("kind = ? AND team_id = ?", kind, teamID).Delete(&Token{}).Error
}

// MembershipsOf lists the teams an account belongs to, oldest first.
func (t *Tx) MembershipsOf(accountID string) ([]Membership, error) {
	var list []Membership
	return list, t.db.Where("account_id = ?", accountID).Order("created_at, team_id").Find(&list).Error
}

// TokenByHash finds a token of the kind that is neither expired nor used at now.
func (t *Tx) TokenByHash(kind string, hash []byte, now time.Time) (Token, error) {
	var token Token
	return token, t.db.Where("kind = ? AND hash = ? AND used_at IS NULL AND (expires_at IS NULL OR expires_at > ?)", kind, hash, now).
		Take(&token).Error
}

// UseToken marks a token used; false when it already was.
func (t *Tx) UseToken(id string, now time.Time) (bool, error) {
	res := t.db.Model(&Token{}).Where("id = ? AND used_at IS NULL", id).UpdateColumn("used_at", now)
	return res.RowsAffected == 1, res.Error
}

// DeleteToken removes a token.
func (t *Tx) DeleteToken(id string) error {
	return t.db.Where("id = ?", id).Delete(&Token{}).Error
}

// DeleteTokens removes all tokens of a kind, such as the links of an earlier
// start.
func (t *Tx) DeleteTokens(kind string) error {
	return t.db.Where("kind = ?", kind).Delete(&Token{}).Error
}

// DeleteExpiredTokens removes what can never be used again.
func (t *Tx) DeleteExpiredTokens(now time.Time) error {
	return t.db.Where("expires_at <= ?", now).Delete(&Token{}).Error
}

// LockAccounts makes concurrent first sign-ups wait for each other. SQLite's
// write transactions exclude each other already.
func (t *Tx) LockAccounts() error {
	return t.lockTable("accounts")
}

func (t *Tx) lockTable(name string) error {
	if t.sqlTx == nil || t.dialect != migrations.Postgres {
		return nil
	}
	return t.db.Exec("LOCK TABLE ? IN SHARE ROW EXCLUSIVE MODE", clause.Table{Name: name}).Error
}

// EmailsOfTeam maps the accounts of a team to their e-mail addresses.
func (t *Tx) EmailsOfTeam(teamID string) (map[string]string, error) {
	var list []Account
	err := t.db.Select("accounts.id", "accounts.email").Joins("JOIN memberships ON memberships.account_id = accounts.id").
		Where("memberships.team_id = ?", teamID).Find(&list).Error
	out := make(map[string]string, len(list))
	for _, a := range list {
		out[a.ID] = a.Email
	}
	return out, err
}

// Operators lists the accounts that run the installation, by e-mail address.
func (t *Tx) Operators() ([]Account, error) {
	var list []Account
	return list, t.db.Where("operator = ?", true).Order("email").Find(&list).Error
}

// SetOperator says of an account whether it is one of them.
func (t *Tx) SetOperator(accountID string, operator bool) error {
	return t.db.Model(&Account{}).Where("id = ?", accountID).UpdateColumn("operator", operator).Error
}
