package access

import (
	"postern/models"
	"postern/platform/fault"
)

// CheckKeysMove refuses to give the keys of a team, or of one of its projects if project isn't "", to a team that has
// keys with the same secrets, since a secret finds one key of a team. Revoked keys with such secrets are removed.
func CheckKeysMove(tx *models.Tx, from, project, into string) error {
	taken, err := tx.FreeHashes(from, project, into)
	if err != nil || taken == 0 {
		return err
	}
	return fault.New(fault.Conflict, "keys_exist", "Some of these API keys (%d) have the same secret as a current or "+
		"former key of the other team. Rotate them with a grace period of 0, or revoke them.", taken)
}
