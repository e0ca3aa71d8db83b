package accounts

import (
	"fmt"

	"postern/models"
	"postern/service/access"
)

// proved is called when a person has shown that an address is theirs: they opened a link that was mailed to it, or a
// provider vouches for it. If that is the address of the account, and it was only typed until now, then another person
// may have signed up with it. Everything by which they could still use the account ends, except for the caller's
// session or token, the linked sign-in keep, and the password, which its owner knows or replaces.
func proved(tx *models.Tx, p access.Principal, account, address, keep string) error {
	row, err := tx.HoldAccount(account)
	if err != nil || !row.EmailUnproven || row.Email != address {
		return err
	}
	ended, err := tx.EndAccess(account, p.Token, keep)
	if err != nil {
		return fmt.Errorf("end the access to %s from before its address was proven: %w", account, err)
	}
	row.EmailUnproven = false
	if err := tx.SetProfile(row); err != nil {
		return err
	}
	type state struct {
		EmailUnproven             bool
		Sessions, Tokens, SignIns int64
	}
	return recordSelf(tx, p, account, state{true, ended.Sessions, ended.Tokens, ended.SignIns}, state{})
}
