package models

import (
	"time"

	"postern/platform/secrets"
)

// ExportKey is a row of export_keys: an Ed25519 key that the installation signs
// exports with.
type ExportKey struct {
	ID         string `gorm:"primaryKey"`
	PublicKey  []byte
	PrivateKey secrets.Sealed // its seed (RFC 8032, section 5.1.5)
	CreatedAt  time.Time
}

// ExportKeys lists the installation's keys, newest last.
func (t *Tx) ExportKeys() ([]ExportKey, error) {
	var rows []ExportKey
	return rows, t.db.Order("id").Find(&rows).Error
}
