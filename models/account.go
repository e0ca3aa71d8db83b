package models

import (
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"postern/migrations"
)

// Account is a row of accounts. PasswordHash is empty if the account has no password
// and signs in through a provider.
type Account struct {
	ID           string `gorm:"primaryKey"`
	Email        string
	Name         string
	PasswordHash string
	Operator     bool // of the installation, in addition to the roles in teams
	CreatedAt    time.Time

	// EmailUnproven says that the person only typed the address, at an open sign-up or later, and hasn't proven yet
	// that it is theirs.
	EmailUnproven bool
}

// Token is a row of tokens: workspace keys, sessions, one-time sign-in links and attempts of federated sign-in. Hash is
// the SHA-256 of the secret. The last three fields are for sessions.
type Token struct {
	ID         string `gorm:"primaryKey"`
	Kind       string
	TeamID     *string
	AccountID  *string
	Hash       []byte
	CreatedAt  time.Time
	ExpiresAt  *time.Time
	UsedAt     *time.Time
	UserAgent  string
	RemoteAddr string
	SeenAt     *time.Time
	Email      string // that a link confirms
}

// CountAccounts counts all accounts.
func (t *Tx) CountAccounts() (int64, error) {
	var n int64
	return n, t.db.Model(&Account{}).Count(&n).Error
}

// AccountByEmail finds an account by its lowercase address.
func (t *Tx) AccountByEmail(email string) (Account, error) {
	var a Account
	return a, t.db.Where("email = ?", email).Take(&a).Error
}

// AccountByID finds an account.
func (t *Tx) AccountByID(id string) (Account, error) {
	var a Account
	return a, t.db.Where("id = ?", id).Take(&a).Error
}

// DeleteTokensOfTeam removes a team's tokens of one kind.
func (t *Tx) DeleteTokensOfTeam(kind, teamID string) error {
	return t.db.Where("kind = ? AND team_id = ?", kind, teamID).Delete(&Token{}).Error
}

// TokenByHash finds a token of the kind that is neither expired at now nor used.
func (t *Tx) TokenByHash(kind string, hash []byte, now time.Time) (Token, error) {
	var token Token
	return token, t.db.
		Where("kind = ? AND hash = ? AND used_at IS NULL AND (expires_at IS NULL OR expires_at > ?)", kind, hash, now).
		Take(&token).Error
}

// UseToken marks a token as used. It returns false if it was already used.
func (t *Tx) UseToken(id string, now time.Time) (bool, error) {
	res := t.db.Model(&Token{}).Where("id = ? AND used_at IS NULL", id).UpdateColumn("used_at", now)
	return res.RowsAffected == 1, res.Error
}

// TokensOf lists the tokens of one kind that an account has at now, newest first.
func (t *Tx) TokensOf(kind, accountID string, now time.Time) ([]Token, error) {
	var list []Token
	return list, t.db.Where(
		"kind = ? AND account_id = ? AND used_at IS NULL AND (expires_at IS NULL OR expires_at > ?)", kind,
		accountID, now,
	).
		Order(
			"created_at DESC, id DESC",
		).Find(
		&list,
	).Error
}

// DeleteTokensExcept removes all but one of an account's tokens of one kind, and returns how many it removed.
func (t *Tx) DeleteTokensExcept(kind, accountID, keep string) (int64, error) {
	res := t.db.Where("kind = ? AND account_id = ? AND id <> ?", kind, accountID, keep).Delete(&Token{})
	return res.RowsAffected, res.Error
}

// HasTokenSince reports whether an account has a token of a kind that was created after a time.
func (t *Tx) HasTokenSince(kind, accountID string, after time.Time) (bool, error) {
	var n int64
	err := t.db.Model(&Token{}).
		Where("kind = ? AND account_id = ? AND created_at > ?", kind, accountID, after).Count(&n).Error
	return n > 0, err
}

// SetTokenHash gives a token a new secret. It returns false if the token does not
// exist.
func (t *Tx) SetTokenHash(id string, hash []byte) (bool, error) {
	res := t.db.Model(&Token{}).Where("id = ?", id).UpdateColumn("hash", hash)
	return res.RowsAffected == 1, res.Error
}

// TouchToken records when a token was last seen.
func (t *Tx) TouchToken(id string, now time.Time) error {
	return t.db.Model(&Token{}).Where("id = ?", id).UpdateColumn("seen_at", now).Error
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

// DeleteExpiredTokens removes tokens that can never be used again.
func (t *Tx) DeleteExpiredTokens(now time.Time) error {
	return t.db.Where("expires_at <= ?", now).Delete(&Token{}).Error
}

// HoldAccount finds an account and locks it until the transaction ends, so that others that call HoldAccount wait. On
// SQLite, write transactions exclude each other anyway.
func (t *Tx) HoldAccount(id string) (Account, error) {
	var a Account
	return a, t.held().Where("id = ?", id).Take(&a).Error
}

// SetPassword writes an account's password hash.
func (t *Tx) SetPassword(id, encoded string) error {
	return t.db.Model(&Account{}).Where("id = ?", id).UpdateColumn("password_hash", encoded).Error
}

// SetProfile writes an account's name, its lowercase address, and whether the address is unproven. It returns
// ErrDuplicate if another account has the address.
func (t *Tx) SetProfile(a Account) error {
	return t.db.Model(&Account{}).Where("id = ?", a.ID).
		UpdateColumns(map[string]any{"name": a.Name, "email": a.Email, "email_unproven": a.EmailUnproven}).Error
}

// Ended counts what EndAccess removed of an account.
type Ended struct {
	Sessions int64 // including current links, sign-in attempts and remembered browsers
	Tokens   int64 // including grants of programs that haven't fetched their token yet
	SignIns  int64 // with providers
}

// EndAccess removes everything by which an account can be used, except its password, one session or token, and one
// linked sign-in.
func (t *Tx) EndAccess(account, keep, keepSignIn string) (ended Ended, err error) {
	for _, of := range []struct {
		row   any
		keep  string
		count *int64
	}{
		{&Token{}, keep, &ended.Sessions},
		{&AccessToken{}, keep, &ended.Tokens},
		{&DeviceGrant{}, "", &ended.Tokens},
		{&LinkedAccount{}, keepSignIn, &ended.SignIns},
	} {
		res := t.db.Where("account_id = ? AND id <> ?", account, of.keep).Delete(of.row)
		if res.Error != nil {
			return ended, res.Error
		}
		*of.count += res.RowsAffected
	}
	return ended, nil
}

// TokenByID finds a token of the kind that is neither expired at now nor used.
func (t *Tx) TokenByID(kind, id string, now time.Time) (Token, error) {
	var token Token
	return token, t.db.
		Where("kind = ? AND id = ? AND used_at IS NULL AND (expires_at IS NULL OR expires_at > ?)", kind, id, now).
		Take(&token).Error
}

// held locks the rows that a query reads until the transaction ends.
func (t *Tx) held() *gorm.DB {
	if t.dialect == migrations.Postgres {
		return t.db.Clauses(clause.Locking{Strength: clause.LockingStrengthUpdate})
	}
	return t.db
}

// LockAccounts makes concurrent first sign-ups wait for each other. SQLite's write transactions exclude each other
// anyway.
func (t *Tx) LockAccounts() error {
	if t.sqlTx == nil || t.dialect != migrations.Postgres {
		return nil
	}
	return t.db.Exec("LOCK TABLE ? IN SHARE ROW EXCLUSIVE MODE", clause.Table{Name: "accounts"}).Error
}

// EmailsOfTeam maps the accounts of a team to their email addresses.
func (t *Tx) EmailsOfTeam(teamID string) (map[string]string, error) {
	var list []Account
	err := t.db.
		Select("accounts.id", "accounts.email").
		Joins("JOIN memberships ON memberships.account_id = accounts.id").
		Where("memberships.team_id = ?", teamID).
		Find(&list).Error
	if err != nil {
		return nil, err
	}
	out := make(map[string]string, len(list))
	for _, a := range list {
		out[a.ID] = a.Email
	}
	return out, nil
}

// Operators lists the accounts that run the installation, by email address.
func (t *Tx) Operators() ([]Account, error) {
	var list []Account
	return list, t.db.Where("operator = ?", true).Order("email").Find(&list).Error
}

// SetOperator writes whether an account is an operator of the installation.
func (t *Tx) SetOperator(accountID string, operator bool) error {
	return t.db.Model(&Account{}).Where("id = ?", accountID).UpdateColumn("operator", operator).Error
}
