package models

import "time"

// LinkedAccount is a row of linked_accounts: the identity of an account at another issuer. Email is the address that
// the issuer last stated, only for display; accounts are never looked up by it.
type LinkedAccount struct {
	ID        string `gorm:"primaryKey"`
	AccountID string
	Issuer    string
	Subject   string
	Email     string
	// EmailVerified says that the issuer vouches for Email too. Invitations accept that as proof of the address, but no
	// one can sign in by it.
	EmailVerified bool
	CreatedAt     time.Time
	SeenAt        time.Time
}

// LinkedBySubject finds the link of an issuer's subject.
func (t *Tx) LinkedBySubject(issuer, subject string) (LinkedAccount, error) {
	var i LinkedAccount
	return i, t.db.Where("issuer = ? AND subject = ?", issuer, subject).Take(&i).Error
}

// LinkedTo lists the links of an account, oldest first.
func (t *Tx) LinkedTo(accountID string) ([]LinkedAccount, error) {
	var list []LinkedAccount
	return list, t.db.Where("account_id = ?", accountID).Order("id").Find(&list).Error
}

// TouchLinked records when an issuer last vouched for a link, the address that it stated, and whether it vouched for
// the address too.
func (t *Tx) TouchLinked(id, email string, isVerified bool, now time.Time) error {
	return t.db.Model(&LinkedAccount{}).Where("id = ?", id).
		UpdateColumns(map[string]any{"email": email, "email_verified": isVerified, "seen_at": now}).Error
}

// DeleteLinked removes a link.
func (t *Tx) DeleteLinked(id string) error {
	return t.db.Where("id = ?", id).Delete(&LinkedAccount{}).Error
}
