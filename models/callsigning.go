package models

import (
	"time"

	"postern/platform/secrets"
)

// CallSigningKey is a row of call_signing_keys: an Ed25519 key with which the gateway signs calls to the project's
// upstreams. It signs from SignsFrom on, until the SignsFrom of a later key.
type CallSigningKey struct {
	ProjectID      string `gorm:"primaryKey"`
	ID             string `gorm:"primaryKey"` // the public key's thumbprint (RFC 7638)
	PublicKey      []byte
	PrivateKey     secrets.Sealed // the seed, base64url
	SignsFrom      time.Time
	PublishedUntil *time.Time // nil until a later key follows
	CreatedAt      time.Time
}

// CallSigningKeysOf lists the keys of projects in the order in which they sign.
func (t *Tx) CallSigningKeysOf(projectIDs ...string) ([]CallSigningKey, error) {
	var list []CallSigningKey
	return list, t.db.Where("project_id IN ?", projectIDs).Order("signs_from, id").Find(&list).Error
}

// PublishCallSigningKeyUntil sets when a key leaves the directory.
func (t *Tx) PublishCallSigningKeyUntil(k CallSigningKey, until time.Time) error {
	return t.db.Model(&CallSigningKey{}).Where("project_id = ? AND id = ?", k.ProjectID, k.ID).
		UpdateColumn("published_until", until).Error
}

// DeleteCallSigningKey deletes a key.
func (t *Tx) DeleteCallSigningKey(k CallSigningKey) error {
	return t.db.Where("project_id = ? AND id = ?", k.ProjectID, k.ID).Delete(&CallSigningKey{}).Error
}
