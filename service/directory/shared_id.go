package directory

import (
	"errors"
	"fmt"

	"postern/models"
)

// addressFree fails if another user has the address of row: the first sign-in under
// it could become either. The tenant is locked.
func addressFree(tx *models.Tx, at place, row models.EndUser) error {
	if row.Email == "" {
		return nil
	}
	others, err := tx.EndUsersOf(at.ID, models.UserFilter{Email: row.Email}, models.Page{Limit: 2})
	if err != nil {
		return err
	}
	for _, other := range others.Items {
		if other.ID != row.ID {
			return takenField("/email", "email_taken", fmt.Sprintf("The tenant has a user with this e-mail address "+
				"already: %s.", other.ID), "Use another address.")
		}
	}
	return nil
}

// externalIDFree fails if another user has signed in with an account that its directory has under the external id of
// row: one person would be two users. The tenant is locked.
func externalIDFree(tx *models.Tx, at place, row models.EndUser) error {
	if row.ExternalID == nil {
		return nil
	}
	other, err := tx.EndUserByDirectoryID(at.ID, *row.ExternalID)
	switch {
	case errors.Is(err, models.ErrNotFound) || err == nil && other.ID == row.ID:
		return nil
	case err != nil:
		return err
	}
	return takenField("/external_id", "external_id_taken", fmt.Sprintf("The user %s has signed in with the account "+
		"that has this external id.", other.ID), "Delete one of the two users.")
}

// signedInAs returns the user who has signed in with an account that its directory has under an external id, and
// whom no provisioning system has yet. false if there is none.
func signedInAs(tx *models.Tx, at place, externalID string) (models.EndUser, bool, error) {
	if externalID == "" {
		return models.EndUser{}, false, nil
	}
	user, err := tx.EndUserByDirectoryID(at.ID, externalID)
	if errors.Is(err, models.ErrNotFound) {
		return user, false, nil
	}
	return user, err == nil && user.ExternalID == nil, err
}

// provisionKnown gives a user who has signed in what a provisioning system sends about them. A user who was frozen
// here stays so.
func provisionKnown(tx *models.Tx, at place, user models.EndUser, in NewUser) (Profile, outcome, error) {
	before, err := tx.LockEndUser(user.ID)
	if err != nil {
		return Profile{}, outcome{}, err
	}
	change := UserChange{UserName: &in.UserName, ExternalID: &in.ExternalID}
	if in.Email != "" {
		change.Email = &in.Email
	}
	if in.Name != "" {
		change.Name = &in.Name
	}
	if in.Frozen {
		change.Frozen = &in.Frozen
	}
	return changeUser(tx, at, before, change)
}
