package models

import "gorm.io/gorm/clause"

// UnstatedClaims is a row of unstated_claims: the claims of group mappings that a provider did not send at a user's
// last sign-in with it. There is a row only while there are some.
type UnstatedClaims struct {
	UserID      string `gorm:"primaryKey"`
	ProviderID  string `gorm:"primaryKey"`
	Withheld    string // one per line
	Unavailable string // one per line
}

// SetUnstatedClaims replaces the row of a user and a provider, and returns the one before:
// with empty lists if there was none.
func (t *Tx) SetUnstatedClaims(row UnstatedClaims) (UnstatedClaims, error) {
	before := UnstatedClaims{UserID: row.UserID, ProviderID: row.ProviderID}
	var list []UnstatedClaims
	err := t.db.Where("user_id = ? AND provider_id = ?", row.UserID, row.ProviderID).Find(&list).Error
	if len(list) > 0 {
		before = list[0]
	}
	if err != nil || before == row {
		return before, err
	}
	if row.Withheld == "" && row.Unavailable == "" {
		return before, t.db.Delete(&row).Error
	}
	return before, t.db.Clauses(clause.OnConflict{UpdateAll: true}).Create(&row).Error
}

// ForgetUnstatedClaims deletes the rows of a provider.
func (t *Tx) ForgetUnstatedClaims(providerID string) error {
	return t.db.Where("provider_id = ?", providerID).Delete(&UnstatedClaims{}).Error
}
