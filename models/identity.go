package models

import "time"

// Identity is a row of identities: an account as another issuer knows it. Email
// is what the issuer last said, for people to read; nobody is found by it.
type Identity struct {
	ID        string `gorm:"primaryKey"`
	AccountID string
	Issuer    string
	Subject   string
	Email     string
	CreatedAt time.Time
	SeenAt    time.Time
}

// IdentityBySubject finds whom an issuer means by a subject.
func (t *Tx) IdentityBySubject(issuer, subject string) (Identity, error) {
	var i Identity
	return i, t.db.Where("issuer = ? AND subject = ?", issuer, subject).Take(&i).Error
}

// IdentitiesOf lists an account's identities, oldest first.
func (t *Tx) IdentitiesOf(accountID string) ([]Identity, error) {
	var list []Identity
	return list, t.db.Where("account_id = ?", accountID).Order("id").Find(&list).Error
}

// TouchIdentity notes when an issuer last vouched for an identity, and under
// which address.
func (t *Tx) TouchIdentity(id, email string, now time.Time) error {
	return t.db.Model(&Identity{}).Where("id = ?", id).UpdateColumns(map[string]any{"email": email, "seen_at": now}).Error
}

// DeleteIdentity removes an identity.
func (t *Tx) DeleteIdentity(id string) error {
	return t.db.Where("id = ?", id).Delete(&Identity{}).Error
}
