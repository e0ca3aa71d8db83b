package models

// HoldOperators lists the operators in the order of their ids, and locks their rows until the
// transaction ends.
func (t *Tx) HoldOperators() ([]Account, error) {
	var list []Account
	return list, t.held().Where("operator = ?", true).Order("id").Find(&list).Error
}

// EraseAccount removes an account with its sessions, tokens, sign-in methods and invitations. Its memberships must
// already have been removed. It returns ErrReferenced if one was added in the meantime.
func (t *Tx) EraseAccount(id string) error {
	for _, row := range []any{&Token{}, &AccessToken{}, &DeviceGrant{}, &LinkedAccount{}} {
		if err := t.db.Where("account_id = ?", id).Delete(row).Error; err != nil {
			return err
		}
	}
	if err := t.db.Where("created_by = ?", id).Delete(&Invitation{}).Error; err != nil {
		return err
	}
	if err := t.db.Where("tester = ?", id).Delete(&LoginAttempt{}).Error; err != nil {
		return err
	}
	if err := t.db.Model(&Team{}).Where("signed_up_id = ?", id).UpdateColumn("signed_up_id", nil).Error; err != nil {
		return err
	}
	return t.db.Where("id = ?", id).Delete(&Account{}).Error
}
