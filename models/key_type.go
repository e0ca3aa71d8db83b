package models

import (
	"time"

	"gorm.io/gorm/clause"

	"postern/migrations"
)

// KeyType is a row of key_types. ExpiresIn is in seconds, 0 for none.
type KeyType struct {
	ID        string `gorm:"primaryKey"`
	ProjectID string
	Name      string
	Scopes    []string `gorm:"serializer:json"`
	ExpiresIn int64
	Limits    Limits `gorm:"serializer:json"`
	BuiltIn   bool
}

// KeyTypesOf lists the key types of projects by name.
func (t *Tx) KeyTypesOf(projectIDs ...string) ([]KeyType, error) {
	var list []KeyType
	return list, t.db.Where("project_id IN ?", projectIDs).Order("name").Find(&list).Error
}

// KeyTypesByID finds key types. It leaves out IDs that don't exist.
func (t *Tx) KeyTypesByID(ids []string) ([]KeyType, error) {
	var list []KeyType
	return list, t.db.Where("id IN ?", ids).Find(&list).Error
}

// LockKeyType finds a key type and keeps others from changing it until the transaction ends, because the row has no
// time of its last change by which a lost race could be detected. On SQLite, write transactions exclude each other
// anyway.
func (t *Tx) LockKeyType(projectID, column, value string) (KeyType, error) {
	q := t.db
	if t.dialect == migrations.Postgres {
		q = q.Clauses(clause.Locking{Strength: clause.LockingStrengthUpdate})
	}
	var one KeyType
	return one, q.Where("project_id = ?", projectID).Where(clause.Eq{
		Column: clause.Column{Name: column},
		Value:  value,
	}).Take(&one).Error
}

// UpdateKeyType writes the changeable columns.
func (t *Tx) UpdateKeyType(one KeyType) error {
	return t.db.
		Model(&KeyType{}).
		Where("id = ?", one.ID).
		Select("Scopes", "ExpiresIn", "Limits").
		UpdateColumns(&one).Error
}

// DeleteKeyType removes a key type's row. It returns ErrReferenced if the type has keys.
func (t *Tx) DeleteKeyType(id string) error { return t.db.Where("id = ?", id).Delete(&KeyType{}).Error }

// CountKeysOfTenant counts the keys of a tenant in all projects, and the keys that are neither frozen nor revoked nor
// expired at now, both up to MaxTotal+1.
func (t *Tx) CountKeysOfTenant(id string, now time.Time) (all, active int64, err error) {
	return t.countKeys("tenant_id = ?", id, now)
}

// countKeys counts the keys for which the condition holds, and those of them that are active at now, both up to
// MaxTotal+1.
func (t *Tx) countKeys(condition, value string, now time.Time) (all, active int64, err error) {
	if all, err = countSome(t.db.Model(&APIKey{}).Where(condition, value)); err != nil {
		return 0, 0, err
	}
	active, err = countSome(t.db.Model(&APIKey{}).Where(condition, value).Where(keyIsActive, now))
	return all, active, err
}
