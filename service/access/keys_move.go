package access

import (
	"postern/models"
	"postern/platform/fault"
)

// CheckKeysMove refuses to move the keys of a team, or of one of its projects if project isn't "", to a team that has
// keys with the same secrets, because a secret identifies a key within its team. It removes revoked keys with such
// secrets.
func CheckKeysMove(tx *models.Tx, from, project, into string) error {
	taken, err := tx.FreeHashes(from, project, into)
	if err != nil || taken == 0 {
		return err
	}
	return fault.New(fault.Conflict, "keys_exist", "Some of these API keys (%d) have the same secrets as current or "+
		"former keys of the other team. Rotate them with a grace period of 0, or revoke them.", taken)
}
