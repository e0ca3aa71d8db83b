package directory

import (
	"cmp"
	"errors"
	"fmt"

	"postern/core/contract"
	"postern/models"
)

var errUserNameTaken = takenField("/user_name", "user_name_taken", "The tenant already has a user with this user name.",
	"Use another user name.")

// shownAs returns the user name that a provisioning system gets.
func shownAs(row models.EndUser) string { return cmp.Or(orEmpty(row.UserName), row.Email) }

// isDistinct fails if another user is called the same. Users with user names can share an address, but one who is known
// by the address alone needs it for themselves. The tenant is locked.
func isDistinct(tx *models.Tx, at place, row models.EndUser) error {
	filter := models.UserFilter{UserName: orEmpty(row.UserName)}
	if row.UserName == nil {
		filter.Email = row.Email
	}
	if filter == (models.UserFilter{}) {
		return nil
	}
	others, err := tx.EndUsersOf(at.ID, filter, models.Page{Limit: 2})
	if err != nil {
		return err
	}
	for _, other := range others.Items {
		switch {
		case other.ID == row.ID:
		case row.UserName != nil:
			return errUserNameTaken
		default:
			return takenField("/email", "email_taken", fmt.Sprintf("The tenant already has a user with this email "+
				"address: %s.", other.ID), "Use another address, or update that user.")
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
		"that has this external ID.", other.ID), "Delete one of the two users.")
}

// signedInAs returns the user who has signed in with an account that its directory has under an external id, if no
// provisioning system manages that user yet. It returns false if there is no such user.
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
func provisionKnown(tx *models.Tx, at place, user models.EndUser, in NewUser) (contract.User, outcome, error) {
	before, err := tx.LockEndUser(user.ID)
	if err != nil {
		return contract.User{}, outcome{}, err
	}
	change := UserChange{
		UserName: &in.UserName, ExternalID: &in.ExternalID,
		GivenName: orNil(in.GivenName), FamilyName: orNil(in.FamilyName),
	}
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
