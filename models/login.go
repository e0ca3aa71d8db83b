package models

import (
	"time"

	"gorm.io/gorm/clause"

	"postern/platform/secrets"
)

// LoginAttempt is a row of login_attempts: an authorization request on its way
// through a provider, bound to the browser that made it.
type LoginAttempt struct {
	ID            string `gorm:"primaryKey"`
	ClientID      string
	BrowserHash   []byte // SHA-256 of the browser's cookie
	RedirectURI   string
	State         string // the client's
	Nonce         string // the client's
	Scope         string
	Resources     Texts  // audiences that the client requested
	ResponseMode  string // the client's: formPost of service/login, or "" for a redirect
	CodeChallenge string // "" for none
	Prompt        string // the client's, "" for none
	HintUser      string // of the request's ID token hint, "" for none
	LinkUser      string // end user that the provider gets linked to, "" for a sign-in
	// InvitationHash is the hash of the invitation link with which the sign-in began, nil for none.
	InvitationHash Digest
	UserAgent      string         // of the browser, shortened
	MaxAge         *int64         // the client's, in seconds; nil for none
	ACRValues      string         // the client's, "" for none
	LoginHint      string         // the client's, "" for none
	UILocales      string         // the client's, "" for none
	Tester         string         // account that tests the login from the dashboard, "" for a real sign-in
	Stated         secrets.Sealed // of a test login: the provider's claims, until they are shown
	Ticket         secrets.Sealed // while the user is on the consent page: who signed in, without the provider's tokens
	AnsweredAt     *time.Time     // when a provider's response was accepted, which happens once
	FinishedAt     *time.Time     // when a code was issued, which happens once
	CreatedAt      time.Time
	ExpiresAt      time.Time
}

// LoginSession is a row of login_sessions: one login of one person at one client.
type LoginSession struct {
	ID         string `gorm:"primaryKey"`
	ClientID   string
	UserID     string
	ProviderID string // not a foreign key: a session can outlive the provider
	Scope      string
	Resources  Texts // audiences that the client requested
	Nonce      string
	CookieHash Digest     // SHA-256 of the cookie at the hosted pages, nil for none
	SeenAt     *time.Time // last use of that cookie
	UserAgent  string     // of the browser that signed in, shortened
	AuthTime   *time.Time // when the person authenticated, as the provider stated; nil if it did not
	ACR        string     // how, as the provider stated; "" if it did not
	AMR        string     // with what, separated by spaces
	EndedAt    *time.Time
	// BarredUntil is the time until which gateways refuse the session's access tokens. It is nil if they just expire,
	// as after a sign-out in the application.
	BarredUntil *time.Time
	CreatedAt   time.Time // when the person proved their identity
	ExpiresAt   time.Time
}

// LoginGrant is a row of login_grants: a code or a refresh token. It doesn't contain a provider's tokens, which are
// sealed in the code itself.
type LoginGrant struct {
	Hash          []byte `gorm:"primaryKey"` // SHA-256
	Kind          string // code or refresh
	SessionID     string
	RedirectURI   string // of codes
	CodeChallenge string // of codes
	Scope         string // of a request that was answered from a session, without a sign-in; "" for the session's
	Resources     Texts  // of the same: requested audiences
	Nonce         string // of the same
	UsedAt        *time.Time
	Successor     secrets.Sealed // of refresh tokens: the token that followed, until UsedAt is long enough ago
	CreatedAt     time.Time
	ExpiresAt     time.Time
}

// LoginConsent is a row of login_consents: the scopes to which a user consented for an app client.
type LoginConsent struct {
	UserID    string `gorm:"primaryKey"`
	ClientID  string `gorm:"primaryKey"`
	Scope     string
	CreatedAt time.Time
	UpdatedAt time.Time
}

// LoginConsentOf finds the consent of a user at a client.
func (t *Tx) LoginConsentOf(userID, clientID string) (LoginConsent, error) {
	var c LoginConsent
	return c, t.db.Where("user_id = ? AND client_id = ?", userID, clientID).Take(&c).Error
}

// SaveLoginConsent inserts or replaces a consent.
func (t *Tx) SaveLoginConsent(c LoginConsent) error {
	return t.db.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "user_id"}, {Name: "client_id"}},
		DoUpdates: clause.AssignmentColumns([]string{"scope", "updated_at"})}).Create(&c).Error
}

// LoginAttemptByID finds an attempt, finished or not, that hasn't expired at now.
func (t *Tx) LoginAttemptByID(id string, now time.Time) (LoginAttempt, error) {
	var a LoginAttempt
	return a, t.db.Where("id = ? AND expires_at > ?", id, now).Take(&a).Error
}

// SetStatedClaims stores a provider's claims in a test login; nil removes them.
func (t *Tx) SetStatedClaims(id string, stated secrets.Sealed) error {
	return t.db.Model(&LoginAttempt{}).Where("id = ?", id).Select("Stated").
		UpdateColumns(&LoginAttempt{Stated: stated}).Error
}

// HintLoginAttempt sets the email address that the user of an attempt entered.
func (t *Tx) HintLoginAttempt(id, address string) error {
	return t.db.Model(&LoginAttempt{}).Where("id = ?", id).UpdateColumn("login_hint", address).Error
}

// AnswerLoginAttempt records that a provider has responded. It returns false if one already had.
func (t *Tx) AnswerLoginAttempt(id string, now time.Time) (bool, error) {
	res := t.db.Model(&LoginAttempt{}).Where("id = ? AND answered_at IS NULL", id).UpdateColumn("answered_at", now)
	return res.RowsAffected == 1, res.Error
}

// KeepLoginTicket stores who signed in, until the user has answered the consent page.
func (t *Tx) KeepLoginTicket(id string, ticket secrets.Sealed) error {
	return t.db.Model(&LoginAttempt{}).Where("id = ?", id).Select("Ticket").
		UpdateColumns(&LoginAttempt{Ticket: ticket}).Error
}

// ReopenLoginAttempt lets a provider respond again to an attempt whose user is on the consent page. It returns false
// for any other attempt.
func (t *Tx) ReopenLoginAttempt(id string) (bool, error) {
	res := t.db.Model(&LoginAttempt{}).Where("id = ? AND ticket IS NOT NULL AND finished_at IS NULL", id).
		Select("AnsweredAt", "Ticket").UpdateColumns(&LoginAttempt{})
	return res.RowsAffected == 1, res.Error
}

// FinishLoginAttempt records that a code was issued. It returns false if one already had been.
func (t *Tx) FinishLoginAttempt(id string, now time.Time) (bool, error) {
	res := t.db.Model(&LoginAttempt{}).Where("id = ? AND finished_at IS NULL", id).
		Select("FinishedAt", "Ticket").UpdateColumns(&LoginAttempt{FinishedAt: &now})
	return res.RowsAffected == 1, res.Error
}

// LoginSessionByID finds a session.
func (t *Tx) LoginSessionByID(id string) (LoginSession, error) {
	var s LoginSession
	return s, t.db.Where("id = ?", id).Take(&s).Error
}

// LoginSessionByCookie finds the session of a cookie at the hosted pages.
func (t *Tx) LoginSessionByCookie(hash []byte) (LoginSession, error) {
	var s LoginSession
	return s, t.db.Where("cookie_hash = ?", hash).Take(&s).Error
}

// TouchLoginSession records that a session's cookie was used.
func (t *Tx) TouchLoginSession(id string, now time.Time) error {
	return t.db.Model(&LoginSession{}).Where("id = ?", id).UpdateColumn("seen_at", now).Error
}

// EndLoginSession ends a session permanently.
func (t *Tx) EndLoginSession(id string, now time.Time) error {
	if err := t.noteLogouts(t.db.Where("id = ?", id), now); err != nil {
		return err
	}
	return t.db.Model(&LoginSession{}).Where("id = ? AND ended_at IS NULL", id).UpdateColumn("ended_at", now).Error
}

// LoginGrantByHash finds a code or refresh token, used or not.
func (t *Tx) LoginGrantByHash(kind string, hash []byte) (LoginGrant, error) {
	var g LoginGrant
	return g, t.db.Where("hash = ? AND kind = ?", hash, kind).Take(&g).Error
}

// UseLoginGrant marks a grant as used, and stores the sealed refresh token that follows it, nil for none. It returns
// false if the grant was already used.
func (t *Tx) UseLoginGrant(hash []byte, successor secrets.Sealed, now time.Time) (bool, error) {
	res := t.db.Model(&LoginGrant{}).Where("hash = ? AND used_at IS NULL", hash).
		Select("UsedAt", "Successor").UpdateColumns(&LoginGrant{UsedAt: &now, Successor: successor})
	return res.RowsAffected == 1, res.Error
}

// ClearSuccessors removes the sealed successors of grants that were used before the given time.
func (t *Tx) ClearSuccessors(before time.Time) error {
	return t.db.Model(&LoginGrant{}).Where("successor IS NOT NULL AND used_at < ?", before).
		UpdateColumn("successor", nil).Error
}

// DeleteExpiredLogins removes finished and expired attempts, and sessions that expired or ended before a time, with
// their codes and refresh tokens. Used codes and tokens stay as long as their session, because one that is presented
// again was stolen.
func (t *Tx) DeleteExpiredLogins(now, sessionsBefore time.Time) error {
	if err := t.db.Where("expires_at <= ?", now).Delete(&LoginAttempt{}).Error; err != nil {
		return err
	}
	const isOver = "expires_at <= ? OR ended_at <= ?"
	over := t.db.Model(&LoginSession{}).Select("id").Where(isOver, sessionsBefore, sessionsBefore)
	if err := t.db.Where("session_id IN (?)", over).Delete(&LoginGrant{}).Error; err != nil {
		return err
	}
	return t.db.Where(isOver, sessionsBefore, sessionsBefore).Delete(&LoginSession{}).Error
}
